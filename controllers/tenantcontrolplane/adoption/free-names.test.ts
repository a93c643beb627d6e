import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Key, KindRef } from '../../../api/meta.ts';
import { emptyInformers } from '../../../testing/fake/empty-informers.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { Observed } from '../scope.ts';
import { secretIdentities } from '../watches.ts';
import { freeNames } from './free-names.ts';

const tcp = tenantControlPlaneWith();
const { namespace } = tcp.metadata;
const nothing: Observed = {
  service: undefined,
  deployment: undefined,
  secrets: new Map(),
  dataStore: undefined,
  overrideStores: new Map(),
  refusals: new Map(),
};

/** Whether the name of an object is free for a tenant that was found in version 100. */
function isFree(
  kind: KindRef,
  name: string,
  {
    version = '100',
    has = [],
    observed = nothing,
    status,
    at = namespace,
  }: {
    readonly version?: string | undefined;
    readonly has?: readonly string[];
    readonly observed?: Observed;
    readonly status?: object;
    readonly at?: string;
  } = {},
): boolean {
  const informer = emptyInformers.informer(secretIdentities);
  const allSecrets = {
    get: ({ name }: Key) =>
      has.includes(name) ? { apiVersion: 'v1', kind: 'Secret', metadata: storedMeta({ namespace, name }) } : undefined,
    health: () => ({ ...informer.health(), version: version === '' ? undefined : version }),
  };
  const tenant = status === undefined ? tcp : { ...tcp, status };
  return freeNames({ tcp: tenant, observed }, '100', allSecrets)?.(kind, { namespace: at, name }) ?? false;
}

test('a name is free where the watch of all Secrets has seen everything before the tenant', () => {
  expect(isFree(kinds.Secret, 'tenant-ca')).toBe(true);
  expect(isFree(kinds.Secret, 'tenant-ca', { version: '1001' })).toBe(true);
});

test.each(['99', '9', '', 'x'])('no name of a Secret is free where that watch is at version "%s"', (version) => {
  expect(isFree(kinds.Secret, 'tenant-ca', { version })).toBe(false);
});

test('a name is not free that something has, whoever made it', () => {
  expect(isFree(kinds.Secret, 'tenant-ca', { has: ['tenant-ca'] })).toBe(false);
});

test('the names of Service and Deployment are free if they were not found, and no other names of these kinds', () => {
  const metadata = storedMeta({ namespace, name: 'tenant' });
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata } as const;
  const service = { apiVersion: 'v1', kind: 'Service', metadata } as const;
  expect(isFree(kinds.Deployment, 'tenant')).toBe(true);
  expect(isFree(kinds.Deployment, 'tenant', { observed: { ...nothing, deployment } })).toBe(false);
  expect(isFree(kinds.Service, 'tenant')).toBe(true);
  expect(isFree(kinds.Service, 'tenant', { observed: { ...nothing, service } })).toBe(false);
  expect(isFree(kinds.Service, 'tenant-other')).toBe(false);
  expect(isFree(kinds.Deployment, 'tenant-other')).toBe(false);
});

test('nothing is free of kinds that are only watched by label, in another namespace, or for a tenant that has a status', () => {
  for (const kind of [kinds.ConfigMap, kinds.NetworkPolicy, kinds.Ingress]) expect(isFree(kind, 'tenant')).toBe(false);
  expect(isFree(kinds.Secret, 'tenant-ca', { at: 'elsewhere' })).toBe(false);
  expect(isFree(kinds.Secret, 'tenant-ca', { status: { kubernetesResources: {} } })).toBe(false);
});

import { expect, test } from '@jest/globals';
import { labels } from '../../api/names.ts';
import type { Key, OwnerReference, Resource } from '../../api/meta.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { claimWatches } from './watches.ts';

const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
const claim = (name: string, pool: string, tenant?: string): ControlPlaneClaim => ({
  apiVersion,
  kind: 'ControlPlaneClaim',
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '1', generation: 1 },
  spec: { pool, deletionPolicy: 'Delete' },
  ...(tenant !== undefined && { status: { tenantControlPlane: tenant } }),
});
const watches = claimWatches({
  claims: () => [claim('waits', 'small'), claim('other', 'large'), claim('has', 'small', 'tenant')],
});
const keysOf = (kind: string, old: Resource | undefined, now: Resource | undefined): readonly Key[] =>
  watches.find((watch) => watch.kind.kind === kind)?.keys(old, now) ?? [];
const names = (keys: readonly Key[]): readonly string[] => keys.map(({ name }) => name);

const owner: OwnerReference = { apiVersion, kind: 'ControlPlaneClaim', name: 'has', uid: 'has', controller: true };
const tcp = (
  status: 'True' | 'False',
  { claimed = false, endpoint = 'a:1' }: { readonly claimed?: boolean; readonly endpoint?: string } = {},
): TenantControlPlane =>
  tenantControlPlaneWith({
    metadata: {
      labels: { [labels.pool]: 'small', ...(claimed && { [labels.claimedBy]: 'has' }) },
      ...(claimed && { ownerReferences: [owner] }),
    },
    status: {
      observedGeneration: 1,
      controlPlaneEndpoint: endpoint,
      conditions: [{ type: 'Ready', status, reason: 'Ready', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }],
    },
  });

test('a control plane that becomes Ready concerns the claims that wait for its pool', () => {
  const of = (old?: TenantControlPlane, now?: TenantControlPlane) => names(keysOf('TenantControlPlane', old, now));
  expect(of(undefined, tcp('True'))).toEqual(['waits']);
  expect(of(tcp('False'), tcp('True'))).toEqual(['waits']);
  expect(of(tcp('True'), tcp('False'))).toEqual([]);
  expect(of(undefined, tenantControlPlaneWith())).toEqual([]);
});

test('a control plane of a claim concerns that claim when its endpoint changes and when it goes, and no other', () => {
  const of = (old?: TenantControlPlane, now?: TenantControlPlane) => names(keysOf('TenantControlPlane', old, now));
  const own = tcp('True', { claimed: true });
  expect(of(own, tcp('True', { claimed: true, endpoint: 'b:1' }))).toEqual(['has']);
  expect(of(own, undefined)).toEqual(['has']);
  expect(of(own, tcp('True', { claimed: true }))).toEqual([]);
});

test('a pool that comes or changes concerns the claims that wait for it', () => {
  const pool = (generation: number, ready = 0): ControlPlanePool => ({
    apiVersion,
    kind: 'ControlPlanePool',
    metadata: { name: 'small', namespace: 'default', uid: 'p', resourceVersion: '1', generation },
    spec: { template: { spec: tenantControlPlaneWith().spec }, minReady: 1 },
    status: { ready },
  });
  const of = (old?: ControlPlanePool, now?: ControlPlanePool) => names(keysOf('ControlPlanePool', old, now));
  expect(of(undefined, pool(1))).toEqual(['waits']);
  expect(of(pool(1), pool(2))).toEqual(['waits']);
  expect(of(pool(1), pool(1, 1))).toEqual([]);
});

test('the Secret of a claim concerns it', () => {
  const metadata = { name: 'has-kubeconfig', namespace: 'default', uid: 's', resourceVersion: '1' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, ownerReferences: [owner] } };
  expect(keysOf('Secret', secret, undefined)).toEqual([{ namespace: 'default', name: 'has' }]);
});

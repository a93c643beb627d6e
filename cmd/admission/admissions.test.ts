import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gateway, tlsRoutes } from '../../api/gateway-api/kinds.ts';
import type { KindRef } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { access } from '../../controllers/tenantcontrolplane/access.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { AdmissionAnswer } from '../../runtime/admission/admission.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { publishedTenant } from '../../testing/worlds/published-tenant.ts';
import { createAdmissions } from './admissions.ts';

const path = '/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane';
const published = publishedTenant({
  gateway: { hostname: 'a.example.org', parentRefs: [{ group: 'x', kind: 'Gateway', name: 'gw' }] },
});

interface Answered {
  readonly allowed: boolean;
  readonly message: string;
  readonly warnings: readonly string[] | undefined;
  readonly asked: boolean;
}

async function answerTo(
  change: { readonly object: TenantControlPlane; readonly oldObject?: TenantControlPlane },
  absent: readonly KindRef[],
  others: readonly TenantControlPlane[] = [],
): Promise<Answered> {
  const cluster = new FakeCluster({ absent, access });
  await cluster.seed(dataStore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name: 'default' },
    ...({ spec: { driver: 'etcd', endpoints: ['etcd:2379'] } } as object),
  });
  for (const other of others) {
    const { name, namespace } = other.metadata;
    await cluster.seed(tenantControlPlane, { ...other, metadata: { name, namespace } });
  }
  const handler = createAdmissions({ cluster, defaultDataStore: '', newestMinor })[path];
  if (handler === undefined) throw new Error(`nobody answers at ${path}`);
  const request = {
    uid: '1',
    operation: change.oldObject === undefined ? ('CREATE' as const) : ('UPDATE' as const),
    kind: { group: 'steward.butlerlabs.dev', version: 'v1alpha1', kind: 'TenantControlPlane' },
    namespace: 'default',
    name: 'tenant',
    ...change,
  };
  const answer: AdmissionAnswer = await handler(request, {
    signal: new AbortController().signal,
    log: silent,
  } as never);
  const asked = cluster.calls.some(({ kind }) => kind?.group === gateway.group);
  const { allowed, warnings } = answer;
  return { allowed, warnings, message: allowed ? '' : answer.message, asked };
}

describe('Defaulting, which comes before the API server validates the schema', () => {
  const answered = (object: unknown): AdmissionAnswer | Promise<AdmissionAnswer> => {
    const handlers = createAdmissions({ cluster: new FakeCluster(), defaultDataStore: 'default', newestMinor });
    const handler = handlers['/mutate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane'];
    const kind = { group: 'steward.butlerlabs.dev', version: 'v1alpha1', kind: 'TenantControlPlane' };
    const request = { uid: '1', operation: 'CREATE', kind, object };
    return handler?.(request as never, { signal: new AbortController().signal }) ?? { allowed: false, message: '' };
  };

  test('leaves a spec that does not fit the schema to the API server, which refuses it by field', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (spec, status) => {
        expect(await answered({ spec, status })).toEqual({ allowed: true });
      }),
    );
    for (const without of ['kubernetes', 'controlPlane'])
      expect(await answered({ ...published, spec: { ...published.spec, [without]: undefined } })).toEqual({
        allowed: true,
      });
  });

  test('does not read what a new object states as its status', async () => {
    const spec = { ...published.spec, dataStore: undefined };
    for (const status of [
      'x',
      { storage: { setup: 'x', migration: 'y' } },
      { storage: { setup: { schema: 's' }, dataStoreName: 'other' } },
    ])
      expect(await answered({ ...published, spec, status })).toMatchObject({
        object: { spec: { dataStore: 'default' } },
      });
  });
});

describe('A control plane with a version that no test has run', () => {
  const withVersion = (version: string): TenantControlPlane => {
    const { spec, ...rest } = publishedTenant({});
    return { ...rest, spec: { ...spec, kubernetes: { ...spec.kubernetes, version } } };
  };

  test('is admitted with a warning if it is allowed', async () => {
    const answer = await answerTo({ object: withVersion('v1.23.6') }, []);
    expect(answer).toMatchObject({ allowed: true, warnings: [expect.stringContaining('v1.23.6 is older than')] });
  });

  test('is refused without a warning that says the same', async () => {
    const { allowed, message, warnings } = await answerTo({ object: withVersion('v1.99.0') }, []);
    expect({ allowed, warnings: warnings ?? [] }).toEqual({ allowed: false, warnings: [] });
    expect(message).toContain('v1.99.0');
  });
});

describe('A control plane that requests a Gateway', () => {
  test('is refused if the cluster has no Gateway API, and the message names the fix', async () => {
    const { allowed, message } = await answerTo({ object: published }, [gateway, ...tlsRoutes]);
    expect(allowed).toBe(false);
    expect(message).toContain('the Gateway API is not available in this cluster: install Gateway API');
  });

  test('is refused if the cluster has Gateways but no TLSRoutes', async () => {
    const { message } = await answerTo({ object: published }, tlsRoutes);
    expect(message).toContain('the TLSRoute resource is not available in this cluster');
  });

  test('is admitted if the cluster has both', async () => {
    expect(await answerTo({ object: published }, [])).toMatchObject({ allowed: true, asked: true });
  });

  test('is admitted without a request to the API server if it has a Gateway already', async () => {
    const answer = await answerTo({ object: published, oldObject: published }, [gateway, ...tlsRoutes]);
    expect(answer).toMatchObject({ allowed: true, asked: false });
  });

  test('A control plane that requests no Gateway is admitted without a request to the API server', async () => {
    expect(await answerTo({ object: publishedTenant({}) }, tlsRoutes)).toMatchObject({ allowed: true, asked: false });
  });
});

describe('A control plane that requests a host name', () => {
  const wanted = publishedTenant({ ingress: { hostname: 'a.example.org' } });
  const named = (name: string, namespace = 'default'): TenantControlPlane => ({
    ...wanted,
    metadata: { ...wanted.metadata, name, namespace },
  });

  test('is refused if another control plane has that name, and the message names that one only within its namespace', async () => {
    const near = await answerTo({ object: wanted }, [], [named('near')]);
    expect(near.allowed).toBe(false);
    expect(near.message).toContain('spec.controlPlane.ingress.hostname');
    expect(near.message).toContain('is already used by TenantControlPlane near');
    const far = await answerTo({ object: wanted }, [], [named('far', 'hidden')]);
    expect(far.allowed).toBe(false);
    expect(far.message).not.toMatch(/far|hidden/);
  });

  test('is admitted if it has that name already, or if the name is free', async () => {
    expect((await answerTo({ object: wanted }, [], [named('tenant')])).allowed).toBe(true);
    const both = { object: wanted, oldObject: wanted };
    expect((await answerTo(both, [], [named('near')])).allowed).toBe(true);
    const other = publishedTenant({ ingress: { hostname: 'b.example.org' } });
    expect((await answerTo({ object: wanted, oldObject: other }, [], [named('near')])).allowed).toBe(false);
    expect((await answerTo({ object: other }, [], [named('near')])).allowed).toBe(true);
  });
});

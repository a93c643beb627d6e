import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';

const name = 'steward-write-permissions';
const limits = { blockCreation: true, blockUpdate: false, blockDeletion: true };
const spec = { dataStore: 'default', addons: { coreDNS: {} }, writePermissions: limits };

async function operations(world: TenantWorld): Promise<readonly string[] | undefined> {
  const binding = await world.tenant.admin.get(kinds.ValidatingAdmissionPolicyBinding, { name });
  const policy = await world.tenant.admin.get(kinds.ValidatingAdmissionPolicy, { name });
  if ((binding === undefined) !== (policy === undefined)) throw new Error('only one of both is there');
  return policy?.spec?.matchConstraints?.resourceRules?.[0]?.operations;
}

/** From when the policy is there until it is gone, every other write is refused as the real API server does. */
function enforce(world: TenantWorld): void {
  world.tenant.before(async ({ verb, kind }) => {
    const writes = ['create', 'apply', 'patch', 'delete'].includes(verb);
    if (!writes || kind?.kind.startsWith('ValidatingAdmissionPolicy') === true) return;
    if ((await operations(world)) === undefined) return;
    throw new ApiError(
      403,
      'Forbidden',
      `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: no`,
    );
  });
}

async function limited(): Promise<TenantWorld> {
  const world = new TenantWorld();
  enforce(world);
  await world.create({ spec });
  await world.settle();
  return world;
}

describe('A tenant whose writes are limited', () => {
  test('gets all that it needs first, and reports what is denied', async () => {
    const world = await limited();
    expect(await operations(world)).toEqual(['CREATE', 'DELETE']);
    expect(await world.tenant.admin.get(kinds.Deployment, { namespace: 'kube-system', name: 'coredns' })).toBeDefined();
    expect(await world.state()).toBe('WriteLimited');
    const ready = (await world.read()).status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({
      status: 'True',
      reason: 'WriteLimited',
      message: 'spec.writePermissions denies CREATE, DELETE',
    });
  });

  test('stays limited when the manager restarts and is denied itself', async () => {
    const world = await limited();
    world.restart();
    await world.settle();
    expect(await world.state()).toBe('WriteLimited');
    expect(await world.condition('TenantConfigured')).toContain('True');
  });

  test('may write again when the spec says so, and gets at once what was postponed', async () => {
    const world = await limited();
    await world.tenant.admin.delete(kinds.Deployment, { namespace: 'kube-system', name: 'coredns' });
    world.restart();
    await world.settle();
    await world.change({ spec: { writePermissions: null } });
    await world.settle();
    expect(await operations(world)).toBeUndefined();
    expect(await world.tenant.admin.get(kinds.Deployment, { namespace: 'kube-system', name: 'coredns' })).toBeDefined();
    expect(await world.state()).toBe('Ready');
  });

  test('reports that its Kubernetes has no admission policies', async () => {
    const world = new TenantWorld();
    await world.create({ spec, kubernetes: { version: 'v1.29.15' } });
    await world.settle();
    expect(await world.condition('TenantConfigured')).toMatch(/False PoliciesNotServed: .* needs Kubernetes 1\.30/);
    expect(await world.state()).not.toBe('WriteLimited');
  });

  test('gets no request about policies if nothing was ever denied', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    expect(world.tenant.calls.some(({ kind }) => kind?.kind.startsWith('ValidatingAdmissionPolicy'))).toBe(false);
  });
});

interface Broken {
  readonly what: string;
  readonly kind: string;
  readonly name: string;
  readonly addons: object;
}

test.each<Broken>([
  { what: 'CoreDNS', kind: 'Deployment', name: 'coredns', addons: { coreDNS: {} } },
  { what: 'kube-proxy', kind: 'DaemonSet', name: 'kube-proxy', addons: { kubeProxy: {} } },
  {
    what: 'the bootstrap of workers',
    kind: 'ClusterRole',
    name: 'steward:node-endpointslice-reader',
    addons: { workerBootstrap: workerBootstrapAddon() },
  },
  { what: 'the proxy', kind: 'Deployment', name: 'steward-tcp-proxy', addons: { tcpProxy: {} } },
  {
    what: 'the agents of konnectivity',
    kind: 'DaemonSet',
    name: 'konnectivity-agent',
    addons: { konnectivity: konnectivityAddon() },
  },
])('denies writes although $what cannot be written, which follows when they are allowed', async (broken) => {
  const world = new TenantWorld();
  enforce(world);
  let refuses = true;
  world.tenant.before(({ verb, kind, name: applied }) => {
    if (refuses && verb === 'apply' && kind?.kind === broken.kind && applied === broken.name)
      throw new ApiError(403, 'Forbidden', 'a webhook of the tenant says no');
  });
  await world.create({ spec: { dataStore: 'default', addons: { ...broken.addons }, writePermissions: limits } });
  await world.settle();
  await world.clock.advance(61_000);
  await world.settle();
  expect(await operations(world)).toEqual(['CREATE', 'DELETE']);
  // It would be denied now, which is reported, and it is not reported as existing.
  refuses = false;
  await world.settle();
  const { conditions = [], addons } = (await world.read()).status ?? {};
  expect(conditions.find(({ type }) => type === 'AddonsReady')?.message).toContain(
    'waiting for spec.writePermissions to allow',
  );
  expect(addons?.coreDNS?.enabled ?? addons?.kubeProxy?.enabled ?? false).toBe(false);
  await world.change({ spec: { writePermissions: null } });
  await world.settle();
  const kind = [kinds.Deployment, kinds.DaemonSet, kinds.ClusterRole].find((one) => one.kind === broken.kind);
  if (kind === undefined) throw new Error('the kind is not expected');
  const at = kind.namespaced ? { namespace: 'kube-system', name: broken.name } : { name: broken.name };
  expect(await world.tenant.admin.get<Resource>(kind, at)).toBeDefined();
  expect(await world.condition('AddonsReady')).toBe('True');
});

test('denies writes only once CoreDNS, whose failure passed, is applied', async () => {
  const world = new TenantWorld();
  enforce(world);
  let refusals = 1;
  world.tenant.before(({ verb, kind, name: applied }) => {
    if (verb === 'apply' && kind?.kind === 'Deployment' && applied === 'coredns' && refusals > 0) {
      refusals -= 1;
      throw new ApiError(429, 'TooManyRequests', 'later');
    }
  });
  await world.create({ spec: { dataStore: 'default', addons: { coreDNS: {} }, writePermissions: limits } });
  await world.settle();
  await world.clock.advance(5_000);
  await world.settle();
  expect(refusals).toBe(0);
  expect(await world.tenant.admin.get(kinds.Deployment, { namespace: 'kube-system', name: 'coredns' })).toBeDefined();
  expect(await operations(world)).toEqual(['CREATE', 'DELETE']);
  expect(await world.condition('AddonsReady')).toBe('True');
});

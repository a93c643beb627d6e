import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { ApiError } from '../../runtime/errors.ts';
import { konnectivityAddon } from '../../testing/konnectivity-addon.ts';
import { TenantWorld } from '../../testing/tenant-world.ts';

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

describe('a tenant whose writes are limited', () => {
  test('gets all that it needs first, and says what is denied', async () => {
    const world = await limited();
    expect(await operations(world)).toEqual(['CREATE', 'DELETE']);
    expect(await world.tenant.admin.get(kinds.Deployment, { namespace: 'kube-system', name: 'coredns' })).toBeDefined();
    expect(await world.state()).toBe('WriteLimited');
    const ready = (await world.read()).status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({
      status: 'True',
      reason: 'WriteLimited',
      message: 'CREATE, DELETE denied, as spec.writePermissions asks',
    });
    expect(await world.condition('UnsupportedFields')).toContain('False');
  });

  test('stays so when the operator starts anew and is denied itself', async () => {
    const world = await limited();
    world.restart();
    await world.settle();
    expect(await world.state()).toBe('WriteLimited');
    expect(await world.condition('TenantConfigured')).toContain('True');
  });

  test('may write again when the spec says so, and gets at once what was put off', async () => {
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

  test('says that its Kubernetes has no policies where that is so', async () => {
    const world = new TenantWorld();
    await world.create({ spec, kubernetes: { version: 'v1.29.15' } });
    await world.settle();
    expect(await world.condition('TenantConfigured')).toMatch(/False PoliciesNotServed: .* needs Kubernetes 1\.30/);
    expect(await world.state()).not.toBe('WriteLimited');
  });

  test('is asked for no policies when nothing was ever denied', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    expect(world.tenant.calls.some(({ kind }) => kind?.kind.startsWith('ValidatingAdmissionPolicy'))).toBe(false);
  });
});

test('writes are denied although the agents of konnectivity cannot be written', async () => {
  const world = new TenantWorld();
  world.tenant.before(({ verb, kind }) => {
    if (kind?.kind === 'DaemonSet' && verb === 'apply')
      throw new ApiError(403, 'Forbidden', 'a webhook of the tenant says no');
  });
  const addons = { konnectivity: konnectivityAddon() };
  await world.create({ spec: { dataStore: 'default', addons, writePermissions: limits } });
  await world.settle();
  expect(await operations(world)).toBeDefined();
  expect(await world.condition('AddonsReady')).toContain('a webhook of the tenant says no');
});

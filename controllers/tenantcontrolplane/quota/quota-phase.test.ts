import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { quotaPolicy as name } from '../../../api/names.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const quota = { objects: 1000, warnAtPercent: 80 };
const spec = { dataStore: 'default', quota, addons: { coreDNS: {} } };

async function operations(world: TenantWorld): Promise<readonly string[] | undefined> {
  const binding = await world.tenant.admin.get(kinds.ValidatingAdmissionPolicyBinding, { name });
  const policy = await world.tenant.admin.get(kinds.ValidatingAdmissionPolicy, { name });
  if ((binding === undefined) !== (policy === undefined)) throw new Error('only one of both is there');
  return policy?.spec?.matchConstraints?.resourceRules?.[0]?.operations;
}

/** The tenant stores so many keys from now on. */
async function store(world: TenantWorld, keys: number): Promise<void> {
  world.measurement = { found: { bytes: 1, keys, time: world.clock.now() } };
  await world.settle();
}

async function started(keys = 1): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec });
  await world.settle();
  await store(world, keys);
  return world;
}

const reason = async (world: TenantWorld): Promise<string | undefined> =>
  (await world.read()).status?.conditions?.find(({ type }) => type === 'WithinQuota')?.reason;

const eventsOf = (world: TenantWorld): readonly string[] =>
  world.events.filter((event) => /NearQuota|QuotaExceeded/.test(event));

describe('A tenant with a quota', () => {
  test('is reported when it comes near a limit, once', async () => {
    const world = await started();
    expect(await world.condition('WithinQuota')).toBe('True');
    expect(await operations(world)).toBeUndefined();
    await store(world, 800);
    await store(world, 801);
    expect(await reason(world)).toBe('NearQuota');
    expect(await operations(world)).toBeUndefined();
    expect(eventsOf(world)).toEqual([expect.stringContaining('800 of 1000 objects')]);
  });

  test('cannot create and change objects while it has reached a limit, and can again afterwards', async () => {
    const world = await started();
    await store(world, 1000);
    expect(await operations(world)).toEqual(['CREATE', 'UPDATE']);
    expect(await world.condition('WithinQuota')).toMatch(
      /^False QuotaExceeded: the tenant stores 1000 of 1000 objects/,
    );
    expect(await world.state()).toBe('Ready');
    await store(world, 990);
    expect(await operations(world)).toEqual(['CREATE', 'UPDATE']);
    expect(eventsOf(world)).toHaveLength(1);
    await store(world, 900);
    expect(await operations(world)).toBeUndefined();
    expect(await world.condition('WithinQuota')).toBe('True');
    expect((await world.read()).status?.quota).toMatchObject({ used: { objects: 900 }, blocked: false });
  });

  test('stays blocked when the manager restarts, and no longer than ten minutes without a measurement', async () => {
    const world = await started(1000);
    world.measurement = { failure: 'the datastore does not answer' };
    world.restart();
    await world.settle();
    expect(await operations(world)).toEqual(['CREATE', 'UPDATE']);
    await world.clock.advance(10 * 60_000);
    await world.settle();
    expect(await operations(world)).toBeUndefined();
    expect(await world.condition('WithinQuota')).toMatch(
      /^Unknown MeasurementFailed: not measured since .*, so writes are allowed: the datastore does not answer$/,
    );
  });

  test('is reconciled again when its last measurement no longer counts', async () => {
    const world = await started(1000);
    await world.clock.advance(9 * 60_000);
    expect((await world.settle()).afterMs).toBeLessThanOrEqual(61_000);
  });

  test('may write again when the quota is removed, and nothing of it is left', async () => {
    const world = await started(1000);
    await world.change({ spec: { quota: null } });
    await world.settle();
    expect(await operations(world)).toBeUndefined();
    expect((await world.read()).status?.quota).toBeUndefined();
    expect(await reason(world)).toBe('NotRequested');
  });

  test('gets back the policy that its administrators removed', async () => {
    const world = await started(1000);
    await world.tenant.admin.delete(kinds.ValidatingAdmissionPolicyBinding, { name });
    await world.tenant.admin.delete(kinds.ValidatingAdmissionPolicy, { name });
    world.restart();
    await world.settle();
    expect(await operations(world)).toEqual(['CREATE', 'UPDATE']);
  });

  test('stays Ready while Steward itself is denied a change, which is reported', async () => {
    const world = await started(1000);
    await world.tenant.admin.delete(kinds.Deployment, { namespace: 'kube-system', name: 'coredns' });
    world.tenant.before(({ verb, kind }) => {
      if (verb !== 'apply' || kind?.kind.startsWith('ValidatingAdmissionPolicy') === true) return;
      const text = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: no`;
      throw new ApiError(403, 'Forbidden', text);
    });
    world.restart();
    await world.settle();
    expect(await world.state()).toBe('Ready');
    const { conditions = [] } = (await world.read()).status ?? {};
    expect(conditions.find(({ type }) => type === 'AddonsReady')?.message).toContain(
      'waiting for spec.quota to allow writes',
    );
  });

  test('says why it could not be blocked', async () => {
    const world = await started();
    world.tenant.before(({ verb, kind }) => {
      if (verb === 'apply' && kind?.kind === 'ValidatingAdmissionPolicy') throw new UnreachableError('it is gone');
    });
    await store(world, 1000);
    expect(await world.condition('WithinQuota')).toMatch(/^Unknown Failed: .*it is gone/);
    expect((await world.read()).status?.quota?.blocked).toBe(false);
  });

  test('is not measured yet at first', async () => {
    const world = new TenantWorld();
    await world.create({ spec });
    await world.settle();
    expect(await world.condition('WithinQuota')).toBe('Unknown NotMeasured: not measured yet');
  });

  test('is not blocked where its Kubernetes has no admission policies, which is reported', async () => {
    const world = new TenantWorld();
    await world.create({ spec, kubernetes: { version: 'v1.29.15' } });
    await world.settle();
    await store(world, 1000);
    expect(await world.condition('WithinQuota')).toMatch(
      /^Unknown PoliciesNotServed: spec\.quota needs Kubernetes 1\.30/,
    );
    expect(await operations(world)).toBeUndefined();
    expect((await world.read()).status?.quota).toMatchObject({ used: { objects: 1000 }, blocked: false });
  });
});

test('a tenant without a quota gets no request about policies, and no condition', async () => {
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  world.measurement = { found: { bytes: 1, keys: 1_000_000, time: world.clock.now() } };
  await world.settle();
  expect(await world.condition('WithinQuota')).toBe('absent');
  expect(world.tenant.calls.some(({ kind }) => kind?.kind.startsWith('ValidatingAdmissionPolicy'))).toBe(false);
});

test('a tenant that makes more writes than it may is reported, then blocked, and not for longer than it has to', async () => {
  const world = new TenantWorld();
  await world.create({ spec: { ...spec, quota: { writesPerSecond: 100, warnAtPercent: 80 } } });
  await world.settle();
  const write = async (perSecond: number, isEmpty: boolean): Promise<void> => {
    const time = world.clock.now();
    const found = { limit: 100, perSecond, isEmpty, isOverdrawn: false, refilled: time, time };
    world.measurement = { writes: { found } };
    await world.settle();
  };
  await write(90, false);
  expect(await reason(world)).toBe('NearQuota');
  expect(await operations(world)).toBeUndefined();
  await write(900, true);
  expect(await operations(world)).toEqual(['CREATE', 'UPDATE']);
  const policy = await world.tenant.admin.get(kinds.ValidatingAdmissionPolicy, { name });
  expect(policy?.spec?.validations?.[0]?.message).toContain('(100 writes a second): write less often');
  expect(await world.condition('WithinQuota')).toMatch(/^False QuotaExceeded: the tenant makes 900 of 100 writes/);
  expect((await world.read()).status?.quota).toMatchObject({ blocked: true, reached: ['writesPerSecond'] });
  world.restart();
  world.measurement = {};
  await world.settle();
  expect(await operations(world)).toEqual(['CREATE', 'UPDATE']);
  await write(4, false);
  expect(await operations(world)).toBeUndefined();
  const { quota: left } = (await world.read()).status ?? {};
  expect(left).toEqual(expect.objectContaining({ blocked: false, used: { writesPerSecond: 4 } }));
  expect(left?.reached).toBeUndefined();
});

import { describe, expect, test } from '@jest/globals';
import { labels } from '../../api/names.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';
import { plainTemplate, PoolWorld } from '../../testing/worlds/pool/pool-world.ts';
import { demandMs } from './demand.ts';
import { stalledMs } from './plan.ts';

const key = (name: string): { namespace: string; name: string } => ({ namespace: 'team', name });
const ofVersion = (version: string) => ({ spec: { ...plainTemplate.spec, kubernetes: { version } } });

async function change(world: PoolWorld, spec: object): Promise<void> {
  await world.cluster.admin.patch(controlPlanePool, key('small'), { type: 'merge', body: { spec } });
}

const versions = async (world: PoolWorld): Promise<readonly string[]> =>
  (await world.tenants()).map(({ spec }) => spec.kubernetes.version);

describe('A ControlPlanePool', () => {
  test('prepares as many control planes as it wants, and says how many can be claimed', async () => {
    const world = new PoolWorld();
    await world.pool({ minReady: 3 });
    await world.settle();
    expect(await world.unclaimed()).toEqual(['small-0001', 'small-0002', 'small-0003']);
    expect((await world.readPool()).status).toMatchObject({ wanted: 3, ready: 0, preparing: 3, claimed: 0 });
    expect(await world.poolReady()).toBe('False Preparing');
    await world.becomesReady('small-0002');
    await world.settle();
    expect((await world.readPool()).status).toMatchObject({ ready: 1, preparing: 2 });
    await world.fill();
    expect((await world.readPool()).status).toMatchObject({ observedGeneration: 1, ready: 3, preparing: 0 });
    expect(await world.poolReady()).toBe('True Ready');
  });

  test('counts what it creates, first and as a refill', async () => {
    const world = new PoolWorld();
    await world.pool({ minReady: 2 });
    await world.settle();
    expect((await world.readPool()).status?.created).toBe(2);
    await world.fill();
    await world.claim('mine');
    await world.settle();
    expect((await world.readPool()).status).toMatchObject({ created: 3, ready: 1, claimed: 1 });
    await world.settle();
    expect((await world.readPool()).status?.created).toBe(3);
  });

  test('prepares one without minReady', async () => {
    const world = new PoolWorld();
    await world.pool();
    await world.settle();
    expect(await world.unclaimed()).toHaveLength(1);
  });

  test('writes nothing while nothing changes, and asks no API server', async () => {
    const world = new PoolWorld();
    const pool = await world.pool({ minReady: 2 });
    await world.fill();
    const { length } = world.cluster.calls;
    await world.outcomeOf(pool);
    expect(world.cluster.calls.slice(length)).toEqual([]);
  });

  test('creates no more than wanted although its cache is late', async () => {
    const world = new PoolWorld();
    const pool = await world.pool({ minReady: 2 });
    await world.refresh();
    for (let turn = 0; turn < 4; turn += 1) await world.outcomeOf(pool);
    expect(await world.tenants()).toHaveLength(2);
  });

  test('creates no more than wanted if its manager dies after any call', async () => {
    for (const calls of crashPoints(12, 'a pool is created')) {
      const world = new PoolWorld();
      const pool = await world.pool({ minReady: 2 });
      await world.refresh();
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await world.outcomeOf(pool);
      world.restart();
      await world.fill();
      expect(await world.tenants()).toHaveLength(2);
      expect(await world.poolReady()).toBe('True Ready');
    }
  });

  test('holds more in reserve after claims, up to maxReady, and fewer 15 minutes later', async () => {
    const world = new PoolWorld();
    const pool = await world.pool({ minReady: 1, maxReady: 2 });
    await world.fill();
    for (const name of ['a', 'b', 'c']) {
      await world.claim(name);
      await world.fill();
    }
    expect((await world.readPool()).status).toMatchObject({ wanted: 2, ready: 2, claimed: 3 });
    // A claim that is gone was demand all the same.
    await world.cluster.admin.delete(controlPlaneClaim, key('a'));
    await world.settle();
    expect((await world.readPool()).status?.recentClaims).toHaveLength(3);
    expect((await world.readPool()).status).toMatchObject({ wanted: 2, claimed: 2 });
    const { afterMs = 0 } = await world.outcomeOf(pool);
    expect(afterMs).toBeGreaterThan(demandMs - 60_000);
    await world.clock.advance(demandMs);
    await world.settle();
    expect((await world.readPool()).status).toMatchObject({ wanted: 1, ready: 1, claimed: 2 });
    expect((await world.readPool()).status?.recentClaims).toBeUndefined();
    expect(await world.tenants()).toHaveLength(3);
  });

  test('replaces those of a former template once new ones are Ready, and never those that are claimed', async () => {
    const world = new PoolWorld();
    await world.pool({ minReady: 2 });
    await world.fill();
    await world.claim('mine');
    await world.fill();
    const mine = (await world.readClaim('mine')).status?.tenantControlPlane;
    await change(world, { template: ofVersion('v1.35.4') });
    await world.settle();
    // Both old ones stay until they are needed no more.
    expect((await versions(world)).toSorted()).toEqual(['v1.35.4', 'v1.35.4', 'v1.36.3', 'v1.36.3', 'v1.36.3']);
    expect((await world.readPool()).status).toMatchObject({ ready: 0, preparing: 2 });
    await world.fill();
    expect((await versions(world)).toSorted()).toEqual(['v1.35.4', 'v1.35.4', 'v1.36.3']);
    expect((await world.readTenant(mine ?? '')).spec.kubernetes.version).toBe('v1.36.3');
  });

  test('leaves what has been claimed since it was read', async () => {
    const world = new PoolWorld();
    const pool = await world.pool({ minReady: 1 });
    await world.fill();
    await world.refresh();
    await change(world, { minReady: 0, maxReady: 0 });
    const claim = await world.claim('mine');
    // Between the list of the pool and its deletion.
    const removeHook = world.cluster.before(async ({ verb }) => {
      if (verb !== 'delete') return;
      removeHook();
      await world.outcomeOf(claim);
    });
    const { afterMs } = await world.outcomeOf(pool);
    expect(afterMs).toBe(1000);
    expect(await world.bound('mine')).toBe('True Bound');
    expect((await world.readTenant('small-0001')).metadata.deletionTimestamp).toBeUndefined();
  });

  test('is deleted with what nobody has claimed, and leaves what is claimed', async () => {
    const world = new PoolWorld();
    await world.pool({ minReady: 2 });
    await world.fill();
    await world.claim('mine');
    await world.fill();
    const held = { metadata: { finalizers: ['example.com/held'] } };
    const [one = ''] = await world.unclaimed();
    await world.cluster.admin.patch(tenantControlPlane, key(one), { type: 'merge', body: held });
    await world.cluster.admin.delete(controlPlanePool, key('small'));
    await world.settle();
    const { status } = await world.readPool();
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Deleting', status: 'True', reason: 'RemovingControlPlanes' }),
    );
    await world.cluster.admin.patch(tenantControlPlane, key(one), {
      type: 'merge',
      body: { metadata: { finalizers: null } },
    });
    await world.settle();
    expect(await world.cluster.admin.get(controlPlanePool, key('small'))).toBeUndefined();
    const left = await world.tenants();
    expect(left.map(({ metadata }) => metadata.name)).toEqual([
      (await world.readClaim('mine')).status?.tenantControlPlane,
    ]);
    // It stays: the write that claimed it has removed the owner reference of the pool.
    await world.settle();
    expect(await world.bound('mine')).toBe('True Bound');
  });

  test('says what the API server refuses, stops there and retries with back-off', async () => {
    const world = new PoolWorld();
    const pool = await world.pool({ minReady: 3 });
    const refusal = new ApiError(403, 'Forbidden', 'exceeded quota: small, requested: count/tenantcontrolplanes=1');
    let left = 1;
    world.cluster.before(({ verb, kind }) => {
      if (verb === 'create' && kind?.kind === 'TenantControlPlane' && (left -= 1) < 0) throw refusal;
    });
    const { error } = await world.outcomeOf(pool);
    expect(error).toBe(refusal);
    expect(await world.poolReady()).toBe('False CreationRefused');
    const { status } = await world.readPool();
    expect(status?.conditions?.[0]?.message).toBe(`0 of 3 control planes can be claimed; ${refusal.message}`);
    expect(await world.tenants()).toHaveLength(1);
    left = 10;
    await world.fill();
    expect(await world.poolReady()).toBe('True Ready');
  });

  test('replaces a control plane that does not become Ready, more and more slowly, and never has more than wanted', async () => {
    const world = new PoolWorld();
    await world.pool({ minReady: 3 });
    await world.settle();
    const seen = new Set<string>();
    let most = 0;
    const hours = 8;
    for (let minute = 0; minute < hours * 60; minute += 1) {
      await world.clock.advance(60_000);
      await world.settle(1);
      const all = await world.unclaimed();
      most = Math.max(most, all.length);
      for (const name of all) seen.add(name);
    }
    expect(most).toBe(3);
    // The first three after 10, 30 and 70 minutes, and then one at a time: after 150 and 310 minutes.
    expect(seen.size).toBe(3 + 3);
    expect(await world.unclaimed()).toHaveLength(1);
    expect(await world.poolReady()).toBe('False NotBecomingReady');
    expect((await world.readPool()).status?.replacements?.count).toBe(5);
    await world.fill();
    expect(await world.poolReady()).toBe('True Ready');
    expect((await world.readPool()).status?.replacements).toBeUndefined();
  });

  test('counts a control plane that was Ready and is not anymore as being prepared', async () => {
    const world = new PoolWorld();
    const pool = await world.pool({ minReady: 1 });
    await world.fill();
    await world.clock.advance(stalledMs);
    await world.tellReady('small-0001', 'False');
    await world.settle();
    expect((await world.readPool()).status).toMatchObject({ ready: 0, preparing: 1 });
    expect(await world.unclaimed()).toEqual(['small-0001']);
    expect((await world.outcomeOf(pool)).afterMs).toBe(stalledMs);
  });

  test('does not take over a control plane that only has its labels', async () => {
    const world = new PoolWorld();
    await world.pool({ minReady: 1 });
    await world.fill();
    const { spec, metadata } = await world.readTenant('small-0001');
    const copy = { name: 'copy', namespace: 'team', labels: metadata.labels ?? {} };
    const { apiVersion, kind } = await world.readTenant('small-0001');
    await world.cluster.admin.create(tenantControlPlane, { apiVersion, kind, metadata: copy, spec });
    await world.becomesReady('copy');
    await world.claim('first');
    await world.settle();
    await change(world, { minReady: 0 });
    await world.settle();
    await world.claim('second');
    await world.settle();
    expect((await world.readTenant('copy')).metadata.labels?.[labels.claimedBy]).toBeUndefined();
    expect((await world.readClaim('first')).status?.tenantControlPlane).toBe('small-0001');
    expect(await world.bound('second')).toBe('False NoneReady');
  });

  test('with a name that its control planes cannot have says so, and creates nothing', async () => {
    const world = new PoolWorld();
    await world.pool({}, 'team.pool');
    await world.settle();
    expect(await world.poolReady('team.pool')).toBe('False InvalidSpec');
    expect(await world.tenants()).toEqual([]);
    await world.cluster.admin.delete(controlPlanePool, key('team.pool'));
    const { length } = world.cluster.calls;
    await world.settle();
    expect(await world.cluster.admin.get(controlPlanePool, key('team.pool'))).toBeUndefined();
    expect(world.cluster.calls.slice(length).filter(({ verb }) => verb === 'list')).toEqual([]);
  });
});

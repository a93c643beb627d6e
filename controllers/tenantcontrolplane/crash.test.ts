import { describe, expect, test } from '@jest/globals';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { CrashError } from '../../testing/fake/fake-faults.ts';
import { callsOf, tenantShape, untilDeath } from '../../testing/worlds/tenant-shape.ts';
import { settledWorlds } from '../../testing/worlds/settled-worlds.ts';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

const key = { namespace: 'default', name: 'tenant' };

async function created(): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create();
  return world;
}

const running = settledWorlds(
  () => new TenantWorld(),
  async (world) => {
    await world.create();
    await world.settle();
  },
);

describe('A manager that dies', () => {
  test('after any call of a creation leads to the same objects', async () => {
    const model = await running();
    const expected = await tenantShape(model);
    const counted = await created();
    const total = await callsOf(counted, () => counted.settle());
    expect(total).toBeGreaterThan(15);
    for (const calls of crashPoints(total, 'creation')) {
      const world = await created();
      // The last call takes effect but its answer never arrives.
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      await world.settle();
      expect({ calls, shape: await tenantShape(world) }).toEqual({ calls, shape: expected });
    }
  }, 300_000);

  test('after any call of a deletion leaves nothing behind', async () => {
    const model = await running();
    await model.cluster.admin.delete(tenantControlPlane, key);
    const total = await callsOf(model, () => model.settle());
    for (const calls of crashPoints(total, 'deletion')) {
      const world = await running();
      await world.cluster.admin.delete(tenantControlPlane, key);
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      await world.settle();
      expect(await world.exists()).toBe(false);
      expect(world.store.tenancies.size).toBe(0);
      expect(await world.writes()).toBe('');
    }
  }, 300_000);

  test('never creates a second CA, however often it dies', async () => {
    const world = await created();
    const seen = new Set<string>();
    for (let calls = 1; calls < 30; calls += 1) {
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      const data = (await world.secret('ca'))?.data;
      if (data !== undefined) seen.add(JSON.stringify(data));
    }
    expect(seen.size).toBe(1);
  });

  test('between datastore and status creates no second tenancy', async () => {
    const world = await created();
    world.store.before = () => {
      world.cluster.crashAfter(0);
      throw new CrashError('the process died in the store');
    };
    await world.reconcile();
    world.restart();
    world.store.before = () => undefined;
    await world.settle();
    expect(world.store.tenancies.size).toBe(1);
  });
});

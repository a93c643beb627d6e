import { describe, expect, test } from '@jest/globals';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { CrashError } from '../../../../testing/fake/fake-faults.ts';
import type { MemoryStore } from '../../../../testing/fake/memory-driver.ts';
import { callsOf, tenantShape, untilDeath } from '../../../../testing/worlds/tenant-shape.ts';
import { settledWorlds } from '../../../../testing/worlds/settled-worlds.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { crashPoints } from '../../../../testing/worlds/crash-points.ts';

const key = { namespace: 'default', name: 'tenant' };

interface Stage {
  readonly world: TenantWorld;
  readonly second: MemoryStore;
}

async function create(world: TenantWorld): Promise<void> {
  await world.addStoreBeside('events');
  const dataStoreOverrides = [{ resource: '/events', dataStore: 'events' }];
  await world.create({ spec: { dataStore: 'default', dataStoreOverrides } });
}

const stageOf = (world: TenantWorld): Stage => ({ world, second: world.store.beside('events:2379') });

async function created(): Promise<Stage> {
  const world = new TenantWorld();
  await create(world);
  return stageOf(world);
}

const settled = settledWorlds(
  () => new TenantWorld(),
  async (world) => {
    await create(world);
    await world.settle();
  },
);

const running = async (): Promise<Stage> => stageOf(await settled());

const found = async ({ world, second }: Stage): Promise<unknown> => ({
  ...((await tenantShape(world)) as object),
  second: second.tenancies.size,
});

/** Does `work` once whole and then once for each of its calls, dying after that one, and compares what is there at the end. */
async function everyDeath(
  start: () => Promise<Stage>,
  begin: (world: TenantWorld) => Promise<unknown>,
): Promise<Stage> {
  const model = await start();
  await begin(model.world);
  const total = await callsOf(model.world, () => model.world.settle());
  const expected = await found(model);
  expect(total).toBeGreaterThan(5);
  for (const calls of crashPoints(total, 'overrides')) {
    const stage = await start();
    await begin(stage.world);
    // The last call takes effect but its answer never arrives.
    stage.world.cluster.crashAfter(calls, { losesAnswer: true });
    await untilDeath(stage.world);
    stage.world.restart();
    await stage.world.settle();
    expect({ calls, found: await found(stage) }).toEqual({ calls, found: expected });
  }
  return model;
}

const nothing = (): Promise<unknown> => Promise.resolve();
const takeOut = (world: TenantWorld): Promise<unknown> => world.change({ spec: { dataStoreOverrides: [] } });

describe('A manager that dies while a tenant has events in another datastore', () => {
  test('after any call of a creation leads to the same objects and tenancies', async () => {
    const { second } = await everyDeath(created, nothing);
    expect(second.tenancies.size).toBe(1);
  }, 600_000);

  test('after any call of removing the override leads to one tenancy and no Secret', async () => {
    const { world, second } = await everyDeath(running, takeOut);
    expect(second.tenancies.size).toBe(0);
    expect(await world.secret('datastore-overrides-certificate')).toBeUndefined();
  }, 600_000);

  test('after any call of a deletion leaves nothing in either datastore', async () => {
    const { world, second } = await everyDeath(running, (of) => of.cluster.admin.delete(tenantControlPlane, key));
    expect([world.store.tenancies.size, second.tenancies.size]).toEqual([0, 0]);
    expect(await world.writes()).toBe('');
  }, 600_000);

  test('half-way through the other datastore leaves no tenancy behind, even if the override is gone when it comes back', async () => {
    const { world, second } = await created();
    second.after = () => {
      world.cluster.crashAfter(0);
      throw new CrashError('the process died in the store');
    };
    await untilDeath(world);
    expect(second.tenancies.size).toBe(1);
    second.after = () => undefined;
    world.restart();
    await takeOut(world);
    await world.settle();
    expect(second.tenancies.size).toBe(0);
    expect(await world.condition('Ready')).toBe('True');
  });
});

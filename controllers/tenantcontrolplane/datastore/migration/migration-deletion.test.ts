import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { dataStoresOf } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { MigrationWorld } from '../../../../testing/worlds/migration-world.ts';

const key = { namespace: 'default', name: 'tenant' };

async function moving(): Promise<MigrationWorld> {
  const world = new MigrationWorld();
  await world.running();
  await world.moveTo('other');
  return world;
}

/** Deletes the tenant as a person does who gets past admission, and lets its pods stop. */
async function removed(world: MigrationWorld): Promise<void> {
  await world.cluster.admin.delete(tenantControlPlane, key);
  for (let reconciles = 0; reconciles < 10 && (await world.exists()); reconciles += 1) {
    await world.reconcile();
    await world.finishPods();
  }
}

async function expectNothingLeft(world: MigrationWorld): Promise<void> {
  expect(await world.exists()).toBe(false);
  expect([...world.store.tenancies.keys(), ...world.target.tenancies.keys()]).toEqual([]);
}

describe('Deleting a tenant', () => {
  test.each(['Preparing', 'Copying', 'Finishing', 'Switching', 'ResumingWrites', 'Revoking', 'RollingBack'] as const)(
    'during its migration (%s) leaves nothing in either datastore, and no Job',
    async (phase) => {
      const world = await moving();
      if (phase === 'RollingBack') {
        await world.until('Copying');
        await world.say({ failure: 'no' });
        await world.reconcile();
      } else await world.until(phase);
      const job = await world.job();
      await removed(world);
      await expectNothingLeft(world);
      if (job !== undefined) {
        const { namespace, name } = job.metadata;
        expect(await world.cluster.admin.get(kinds.Job, { namespace, name })).toBeUndefined();
      }
    },
    60_000,
  );

  test('after its migration removes the old copy too', async () => {
    const world = await moving();
    await world.migrate();
    expect(world.store.tenancies.size).toBe(1);
    await removed(world);
    await expectNothingLeft(world);
  }, 60_000);

  test.each([
    ['source', 'store'],
    ['target', 'target'],
  ] as const)(
    'during its migration waits for a %s that is down, and empties the other one meanwhile',
    async (_name, down) => {
      const world = await moving();
      await world.until('Following');
      world[down].failure = new StoreError('Unreachable', 'no answer');
      await removed(world);
      expect(await world.exists()).toBe(true);
      const message = (await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting')?.message;
      expect(message).toContain('no answer');
      expect(world[down === 'store' ? 'target' : 'store'].tenancies.size).toBe(0);
      world[down].failure = undefined;
      world.restart();
      await removed(world);
      await expectNothingLeft(world);
    },
    60_000,
  );

  test('whose names in the target belong to another owner does not change those', async () => {
    const world = new MigrationWorld();
    await world.running();
    const own = [...world.store.tenancies.keys()].join();
    world.target.tenancies.set(own, { schema: own, user: own, owner: 'somebody else' });
    await world.moveTo('other');
    await world.reconcile();
    await world.reconcile();
    await removed(world);
    expect(await world.exists()).toBe(false);
    expect([...world.target.tenancies.keys()]).toEqual([own]);
  }, 60_000);
});

describe('A DataStore', () => {
  test('counts as used while data is migrated to it or from it, or was left in it', async () => {
    const world = await moving();
    await world.until('Copying');
    expect(dataStoresOf(await world.read(), '')).toEqual(['default', 'other']);
    await world.migrate();
    expect(dataStoresOf(await world.read(), '')).toEqual(['default', 'other']);
    expect(await world.cluster.admin.get(dataStore, { name: 'default' })).toBeDefined();
  }, 60_000);
});

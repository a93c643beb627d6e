import { annotations } from '../../../api/names.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import type { Play } from './play.ts';
import { running } from './running.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

/** Whether the data of the tenant is in the other DataStore, and the tenant is used there. */
export async function hasMoved(world: ChaosWorld): Promise<boolean> {
  if (!(await tenantIsReady(world))) return false;
  const { storage } = (await world.read()).status ?? {};
  return storage?.dataStoreName === 'other' && storage.migration?.phase === 'Succeeded' && !(await world.frozen());
}

/** Tries again after a migration has been rolled back, once, as the condition requests. */
async function retry(world: ChaosWorld): Promise<void> {
  if (!(await world.exists())) return;
  const { metadata, status } = await world.read();
  const { [annotations.retryMigration]: requested } = metadata.annotations ?? {};
  if (status?.storage?.migration?.phase !== 'Failed' || requested === 'again') return;
  await world.change({ metadata: { annotations: { [annotations.retryMigration]: 'again' } } });
}

export const migrate: Play = {
  name: 'migrate',
  about: 'a tenant that is used is migrated from etcd to PostgreSQL, by the process of a Job',
  prepare: (world) => running(world),
  acts: [
    {
      goal: 'the migration has succeeded',
      act: (world) =>
        world.change({
          metadata: { annotations: { [annotations.retryMigration]: 'first' } },
          spec: { dataStore: 'other' },
        }),
      reached: hasMoved,
      remedy: retry,
    },
  ],
};

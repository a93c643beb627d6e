import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { hasMoved } from './migrate.ts';
import type { Play } from './play.ts';
import { running } from './running.ts';

export const drain: Play = {
  name: 'drain',
  about: 'the DataStore of a tenant that is used is drained, and copies are removed',
  prepare: (world) => running(world),
  acts: [
    {
      goal: 'the DataStore is drained',
      // After a migration that was rolled back, Steward waits before it tries again.
      seconds: 3600,
      act: async (world) => {
        const body = { spec: { drain: { keep: 0, previousCopies: 'Remove' } } };
        await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body });
      },
      reached: async (world) => {
        const { conditions = [] } = (await world.readDataStore('default'))?.status ?? {};
        const isDrained = conditions.some(({ type, status }) => type === 'Drained' && status === 'True');
        return isDrained && (await hasMoved(world));
      },
    },
  ],
};

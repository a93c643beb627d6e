import { backedUp, createRestore } from './create-restore.ts';
import type { Play } from './play.ts';

export const restore: Play = {
  name: 'restore',
  about: 'a tenant is put to sleep, returned to its backup by the process of a Job, and woken up',
  prepare: async (world) => {
    await backedUp(world);
    const saved = new Map(world.user.acknowledged);
    world.isUsed = true;
    await world.pass(10);
    // What was written after the backup is given up.
    world.isUsed = false;
    world.user.acknowledged.clear();
    for (const [name, value] of saved) world.user.acknowledged.set(name, value);
  },
  acts: [createRestore({ type: 'InPlace', sleep: true })],
};

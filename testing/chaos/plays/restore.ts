import { apiVersionOf } from '../../../api/meta.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { backupName, createBackupKey, takeBackup } from './back-up.ts';
import type { Play } from './play.ts';
import { running, until } from './running.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

const key = { namespace: 'default', name: 'back' };

export const restore: Play = {
  name: 'restore',
  about: 'a tenant is put to sleep, returned to its backup by the process of a Job, and woken up',
  prepare: async (world) => {
    await running(world);
    await createBackupKey(world);
    // Nothing is written during the backup, so that it is known what is in it.
    world.isUsed = false;
    await takeBackup.act(world);
    await until(world, takeBackup.goal, () => takeBackup.reached(world));
    const saved = new Map(world.user.acknowledged);
    world.isUsed = true;
    await world.pass(10);
    // What was written after the backup is given up.
    world.isUsed = false;
    world.user.acknowledged.clear();
    for (const [name, value] of saved) world.user.acknowledged.set(name, value);
  },
  acts: [
    {
      goal: 'the tenant is ready with the data of the backup',
      act: async (world) => {
        const { kind } = tenantRestore;
        const spec = {
          tenantControlPlaneName: 'tenant',
          type: 'InPlace',
          sleep: true,
          source: { backupName },
        };
        await world.cluster.admin.create(tenantRestore, {
          apiVersion: apiVersionOf(tenantRestore),
          kind,
          metadata: key,
          spec,
        });
      },
      reached: async (world) => {
        const found = await world.cluster.admin.get(tenantRestore, key);
        return found?.status?.phase === 'Completed' && (await tenantIsReady(world));
      },
    },
  ],
};

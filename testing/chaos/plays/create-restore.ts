import { apiVersionOf } from '../../../api/meta.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestoreSpecInput } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import { backupName, createBackupKey, takeBackup } from './back-up.ts';
import type { Act } from './play.ts';
import { running, until } from './running.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

const key = { namespace: 'default', name: 'back' };

/** Leads a new world to a tenant with a backup. Nothing was written during it, so that it is known what it contains; the user is at rest. */
export async function backedUp(world: ChaosWorld): Promise<void> {
  await running(world);
  await createBackupKey(world);
  world.isUsed = false;
  await takeBackup.act(world);
  await until(world, takeBackup.goal, () => takeBackup.reached(world));
}

/** A restore of the backup of `backedUp`. */
export function createRestore(spec: Pick<TenantRestoreSpecInput, 'type' | 'sleep'>): Act {
  return {
    goal: 'the tenant is ready with the data of the backup',
    act: async (world) => {
      await world.cluster.admin.create(tenantRestore, {
        apiVersion: apiVersionOf(tenantRestore),
        kind: tenantRestore.kind,
        metadata: key,
        spec: { tenantControlPlaneName: 'tenant', source: { backupName }, ...spec },
      });
    },
    reached: async (world) => {
      const found = await world.cluster.admin.get(tenantRestore, key);
      return found?.status?.phase === 'Completed' && (await tenantIsReady(world));
    },
  };
}

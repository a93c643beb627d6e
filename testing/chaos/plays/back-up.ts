import { kinds } from '../../../api/core/kinds.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import { tenantBackup } from '../../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';
import { BackupKey } from '../../../stores/backup/backup-key.ts';
import { chooseBackup, restoreBackup } from '../../../stores/backup/restore-backup.ts';
import { SealedFolder } from '../../../stores/backup/sealed-folder.ts';
import { MemoryTenancy } from '../../fake/memory-tenancy.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import type { Act, Play } from './play.ts';
import { running } from './running.ts';

const key = { namespace: 'default', name: 'once' };

const keyText = Buffer.alloc(32, 3).toString('base64');

/** The name of the backup. */
export const backupName = key.name;

/** Creates the Secret with the key of the backups, as a person does before the first one. */
export async function createBackupKey(world: ChaosWorld): Promise<void> {
  const metadata = { namespace: 'default', name: 'backup-key' };
  const data = { key: Buffer.from(keyText).toString('base64') };
  await world.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data });
}

const read = (world: ChaosWorld): Promise<TenantBackup | undefined> => world.cluster.admin.get(tenantBackup, key);

export const takeBackup: Act = {
  goal: 'the backup is complete',
  act: async (world) => {
    world.user.requested = new Map(world.user.acknowledged);
    const { kind } = tenantBackup;
    const source = {
      tenantControlPlaneName: 'tenant',
      encryption: { keySecret: { name: 'backup-key', key: 'key' } },
      storage: { persistentVolumeClaim: { claimName: 'backups' } },
    };
    const manifest = { apiVersion: apiVersionOf(tenantBackup), kind, metadata: key, spec: { source } };
    await world.cluster.admin.create(tenantBackup, manifest);
  },
  reached: async (world) => (await read(world))?.status?.phase === 'Completed',
};

/** What was acknowledged before the backup was requested, and is not in it. Values grow from write to write. */
async function lostInBackup(world: ChaosWorld): Promise<readonly string[]> {
  const { uid = '' } = (await read(world))?.metadata ?? {};
  const folder = new SealedFolder(world.repository, `default/tenant/once/${uid}`, new BackupKey(keyText));
  const target = new MemoryTenancy();
  const parts = { target: target.open(), store: 'elsewhere', folder, signal: new AbortController().signal };
  await restoreBackup(parts, await chooseBackup(folder, undefined), undefined);
  const saved = new Map(target.texts());
  return [...world.user.requested].flatMap(([name, value]) => {
    const found = saved.get(name);
    return found !== undefined && found >= value ? [] : [`${name} is ${found ?? 'absent'} in the backup, not ${value}`];
  });
}

export const backUp: Play = {
  name: 'back-up',
  about: 'a tenant that is used is backed up once, by the process of a Job',
  prepare: async (world) => {
    await running(world);
    await createBackupKey(world);
  },
  acts: [takeBackup],
  lost: async (world) => {
    const inBackup = await lostInBackup(world).catch((error: unknown) => [
      `the backup cannot be restored: ${describeFailure(error)}`,
    ]);
    return [...inBackup, ...world.user.missed];
  },
};

import type { BackupSource } from '../../api/steward/v1alpha1/backup/backup-place.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { onceFolder } from '../../stores/backup/process/process-manifest.ts';

/** What is restored. All of it is in the namespace of the restore. */
export interface RestoreSource extends BackupSource {
  /** Below the folder of the control plane; absent for that itself. */
  readonly folder?: string;
  /** The moment; absent for the last one that is known. */
  readonly at?: string;
}

/** Where the backups of a restore are; text says, for a person, why that is not known yet. */
export async function restoreSource(
  { metadata: { namespace }, spec }: TenantRestore,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<RestoreSource | string> {
  const { source, toTime } = spec;
  const { backupName, policyName, repository } = source;
  const at = toTime === undefined ? {} : { at: toTime };
  if (repository !== undefined) {
    const { backupUID, ...place } = repository;
    return { ...place, ...(backupUID !== undefined && { folder: onceFolder(backupUID) }), ...at };
  }
  if (policyName !== undefined) {
    const policy = await cluster.get(backupPolicy, { namespace, name: policyName }, { signal });
    if (policy === undefined) return `BackupPolicy ${policyName} does not exist`;
    const { tenantControlPlaneName, encryption, storage } = policy.spec;
    return { tenantControlPlaneName, encryption, storage, ...at };
  }
  const name = backupName ?? '';
  const backup = await cluster.get(tenantBackup, { namespace, name }, { signal });
  return backup === undefined ? `TenantBackup ${name} does not exist` : sourceOfBackup(backup);
}

function sourceOfBackup({ metadata: { name, uid }, spec, status }: TenantBackup): RestoreSource | string {
  const source = spec.source ?? status?.source;
  if (source === undefined || status?.phase !== 'Completed') return `TenantBackup ${name} is not complete`;
  // The backups of a policy are in one folder, and each has its moment.
  return spec.time === undefined ? { ...source, folder: onceFolder(uid) } : { ...source, at: spec.time };
}

import type { BackupSource } from '../../api/steward/v1alpha1/backup/backup-place.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { onceFolder } from '../../stores/backup/process/process-manifest.ts';
import type { BackupProcess } from '../../stores/backup/process/process-manifest.ts';

/** The process that takes a backup once, or removes it. It has a folder of its own, so that it cannot conflict with another process. */
export function backupProcessOf(
  backup: TenantBackup,
  source: BackupSource,
  component: 'backup' | 'removal',
): BackupProcess {
  return {
    component,
    owner: backup,
    plural: tenantBackup.plural,
    tenant: source.tenantControlPlaneName,
    source,
    args: [`--folder=${onceFolder(backup.metadata.uid)}`],
  };
}

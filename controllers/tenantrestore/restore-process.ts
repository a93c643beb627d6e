import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { BackupProcess } from '../../stores/backup/process/process-manifest.ts';
import type { RestoreSource } from './restore-source.ts';

/** The process that restores. The backups are always those of its own namespace. */
export function restoreProcess(restore: TenantRestore, source: RestoreSource): BackupProcess {
  const { folder, at, ...place } = source;
  return {
    component: 'restore',
    owner: restore,
    plural: tenantRestore.plural,
    tenant: restore.spec.tenantControlPlaneName,
    source: place,
    args: [
      `--from=${restore.metadata.namespace}/${source.tenantControlPlaneName}`,
      ...(folder === undefined ? [] : [`--folder=${folder}`]),
      ...(at === undefined ? [] : [`--at=${at}`]),
      ...(restore.spec.type === 'Move' ? ['--move'] : []),
    ],
  };
}

import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { backupPolicyController } from '../../controllers/backuppolicy/controller.ts';
import { tenantBackupController } from '../../controllers/tenantbackup/controller.ts';
import { tenantRestoreController } from '../../controllers/tenantrestore/controller.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import type { BackupProcesses } from '../../stores/backup/process/processes.ts';

/** The controllers of backups, which run processes beside the manager. */
export function backupControllers(
  processes: BackupProcesses,
  { cluster, informers }: { readonly cluster: Cluster; readonly informers: Pick<InformerFactory, 'informer'> },
): readonly Controller[] {
  const lists = {
    policies: () => informers.informer({ kind: backupPolicy, optional: true }).list(),
    backups: () => informers.informer({ kind: tenantBackup, optional: true }).list(),
    restores: () => informers.informer({ kind: tenantRestore, optional: true }).list(),
  };
  return [
    backupPolicyController({ cluster, processes, ...lists }),
    tenantBackupController({ cluster, processes, ...lists }),
    tenantRestoreController({ cluster, processes, ...lists }),
  ];
}

import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { BackupProcesses } from '../../stores/backup/process/processes.ts';

/** What the controller acts through. */
export interface Dependencies {
  readonly cluster: Cluster;
  readonly processes: BackupProcesses;
  /** All of them, from a cache. */
  readonly backups: () => readonly TenantBackup[];
}

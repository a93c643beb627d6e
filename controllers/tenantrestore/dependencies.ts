import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { BackupProcesses } from '../../stores/backup/process/processes.ts';

/** What the controller acts through. */
export interface Dependencies {
  readonly cluster: Cluster;
  readonly processes: BackupProcesses;
  /** All of them, from a cache. */
  readonly restores: () => readonly TenantRestore[];
}

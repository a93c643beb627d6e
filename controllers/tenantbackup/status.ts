import { stateCondition } from '../../api/conditions.ts';
import type { ReasonOf, StatedCondition } from '../../api/conditions.ts';
import type { BackupEntry } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupSource } from '../../api/steward/v1alpha1/backup/backup-place.ts';
import type { TenantBackup, TenantBackupStatus } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { setConditions } from '../../runtime/reconcile/conditions.ts';

/** Why a backup is not complete yet. */
export interface Waiting {
  readonly reason: ReasonOf<'TenantBackup', 'Complete'>;
  readonly message: string;
}

/** What is known of a backup that is complete. */
export interface Completed extends BackupEntry {
  readonly completedAt: string;
}

/** True once nothing more happens to a backup that was taken once. */
export function isFinished({ status }: TenantBackup): boolean {
  return status?.phase === 'Completed' || status?.phase === 'Failed';
}

/** The status before a process was started. */
export function pendingStatus(backup: TenantBackup, waiting: Waiting, now: Date): TenantBackupStatus {
  return { ...withConditions(backup, incomplete(waiting), now), phase: 'Pending' };
}

/** The status while a process works. */
export function runningStatus(
  backup: TenantBackup,
  {
    source,
    startTime,
    message,
  }: { readonly source: BackupSource; readonly startTime: string; readonly message: string },
  now: Date,
): TenantBackupStatus {
  const conditions = incomplete({ reason: 'Running', message });
  return { ...withConditions(backup, conditions, now), phase: 'Running', source, startTime };
}

/** The status of a backup that was given up. */
export function failedStatus(backup: TenantBackup, message: string, now: Date): TenantBackupStatus {
  const conditions = [
    state({ type: 'Complete', status: 'False', reason: 'Failed', message }),
    state({ type: 'Failed', status: 'True', reason: 'BackupFailed', message }),
  ];
  return { ...withConditions(backup, conditions, now), phase: 'Failed' };
}

/** The status of a backup that can be restored. */
export function completedStatus(
  backup: TenantBackup,
  source: BackupSource,
  { time, revision, keys, bytes, changesUntil, completedAt }: Completed,
  now: Date,
): TenantBackupStatus {
  const conditions = [
    state({ type: 'Complete', status: 'True', reason: 'Completed', message: '' }),
    state({ type: 'Failed', status: 'False', reason: 'NotFailed', message: '' }),
  ];
  return {
    ...withConditions(backup, conditions, now),
    ...{ phase: 'Completed', source, completionTime: completedAt, time, revision, keys, bytes },
    ...(changesUntil !== undefined && { changesUntil }),
  };
}

/** The status while the object is being deleted. */
export function deletingStatus(
  backup: TenantBackup,
  { reason, message }: { readonly reason: ReasonOf<'TenantBackup', 'Deleting'>; readonly message: string },
  now: Date,
): TenantBackupStatus {
  return withConditions(backup, [state({ type: 'Deleting', status: 'True', reason, message })], now);
}

const incomplete = ({ reason, message }: Waiting): readonly StatedCondition[] => [
  state({ type: 'Complete', status: 'False', reason, message }),
  state({ type: 'Failed', status: 'False', reason: 'NotFailed', message: '' }),
];

function state<T extends 'Complete' | 'Failed' | 'Deleting'>(
  condition: StatedCondition<T, ReasonOf<'TenantBackup', NoInfer<T>>>,
): StatedCondition {
  return stateCondition('TenantBackup', condition);
}

function withConditions(
  { metadata, status }: TenantBackup,
  conditions: readonly StatedCondition[],
  now: Date,
): TenantBackupStatus {
  const at = { generation: metadata.generation, now };
  return {
    ...status,
    observedGeneration: at.generation,
    conditions: setConditions(status?.conditions ?? [], conditions, at),
  };
}

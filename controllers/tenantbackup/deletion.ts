import { kinds } from '../../api/core/kinds.ts';
import type { ReasonOf } from '../../api/conditions.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { jobState } from '../../stores/backup/process/process-state.ts';
import { backupProcessOf } from './backup-process.ts';
import type { Dependencies } from './dependencies.ts';

/** Why a backup cannot be deleted yet. */
export interface Waiting {
  readonly reason: ReasonOf<'TenantBackup', 'Deleting'>;
  readonly message: string;
}

/** Ends the process of a backup that was taken once, and removes what it has written if the spec says so. */
export async function endBackup(
  backup: TenantBackup,
  { processes }: Dependencies,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  // Those of a policy follow its retention.
  if (backup.spec.time !== undefined) return undefined;
  if (!(await processes.end(kinds.Job, 'backup', backup, signal))) {
    return { reason: 'StoppingProcess', message: 'waiting for the process to end' };
  }
  const { source } = backup.status ?? {};
  if (backup.spec.deletionPolicy !== 'Delete' || source === undefined) return undefined;
  const refusal = processes.refusal(source.storage);
  if (refusal !== undefined) return { reason: 'RemovingBackups', message: refusal };
  const job = await processes.job('removal', backup, signal);
  if (job === undefined) {
    await processes.start(backupProcessOf(backup, source, 'removal'), signal);
    return { reason: 'RemovingBackups', message: 'the backup is being removed' };
  }
  const state = jobState(job);
  if (state.is === 'complete') return undefined;
  const message =
    state.is === 'failed'
      ? (backup.status?.process?.problem ?? state.message)
      : await processes.troubles('removal', backup, signal);
  return { reason: 'RemovingBackups', message: message === '' ? 'the backup is being removed' : message };
}

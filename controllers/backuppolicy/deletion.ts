import { kinds } from '../../api/core/kinds.ts';
import type { ReasonOf } from '../../api/conditions.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import { jobState } from '../../stores/backup/process/process-state.ts';
import type { Dependencies } from './dependencies.ts';
import { backupsOf } from './policy-backups.ts';
import { removalProcess } from './policy-process.ts';

/** Why a policy cannot be deleted yet. */
export interface Waiting {
  readonly reason: ReasonOf<'BackupPolicy', 'Deleting'>;
  readonly message: string;
}

/** Ends the process of a policy, and removes its backups if it says so; undefined once nothing is left to do. */
export async function endPolicy(policy: BackupPolicy, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  const { processes } = deps;
  const { signal } = ctx;
  if (!(await processes.end(kinds.Deployment, 'backup', policy, signal))) {
    return { reason: 'StoppingProcess', message: 'waiting for the process to end' };
  }
  if (policy.spec.deletionPolicy !== 'Delete') return undefined;
  const other = otherPolicy(policy, deps.policies());
  if (other !== undefined) {
    const message = `the backups are retained, because BackupPolicy ${other.metadata.name} backs up the same control plane`;
    ctx.event('Normal', 'BackupsRetained', message);
    return undefined;
  }
  const waiting = await removeBackups(policy, deps, signal);
  if (waiting !== undefined) return waiting;
  for (const { metadata } of backupsOf(policy, deps.backups())) {
    const { namespace, name, uid } = metadata;
    await deps.cluster.delete(tenantBackup, { namespace, name }, { uid, signal });
  }
  return undefined;
}

/** Policies of one control plane share their backups. */
function otherPolicy({ metadata, spec }: BackupPolicy, policies: readonly BackupPolicy[]): BackupPolicy | undefined {
  return policies.find(
    (other) =>
      other.metadata.uid !== metadata.uid &&
      other.metadata.namespace === metadata.namespace &&
      other.spec.tenantControlPlaneName === spec.tenantControlPlaneName,
  );
}

async function removeBackups(
  policy: BackupPolicy,
  { processes }: Dependencies,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const refusal = processes.refusal(policy.spec.storage);
  if (refusal !== undefined) return { reason: 'RemovingBackups', message: refusal };
  const job = await processes.job('removal', policy, signal);
  if (job === undefined) {
    await processes.start(removalProcess(policy), signal);
    return { reason: 'RemovingBackups', message: 'the backups are being removed' };
  }
  const state = jobState(job);
  if (state.is === 'complete') return undefined;
  if (state.is === 'running') {
    const troubles = await processes.troubles('removal', policy, signal);
    return { reason: 'RemovingBackups', message: troubles === '' ? 'the backups are being removed' : troubles };
  }
  // The finished Job is removed after an hour, and then started again.
  const problem = policy.status?.process?.problem;
  return { reason: 'RemovingBackups', message: problem ?? state.message };
}

import { stateCondition } from '../../api/conditions.ts';
import type { ReasonOf, StatedCondition } from '../../api/conditions.ts';
import type { TenantRestore, TenantRestoreStatus } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { setConditions } from '../../runtime/reconcile/conditions.ts';

/** Why a restore is not complete yet. */
export interface Waiting {
  readonly reason: ReasonOf<'TenantRestore', 'Complete'>;
  readonly message: string;
}

/** True once nothing more happens. */
export function isFinished({ status }: TenantRestore): boolean {
  return status?.phase === 'Completed' || status?.phase === 'Failed';
}

/** The status while somebody has to do something first. Policies go on meanwhile. */
export function pendingStatus(restore: TenantRestore, waiting: Waiting, now: Date): TenantRestoreStatus {
  return { ...withConditions(restore, incomplete(waiting), now), phase: 'Pending' };
}

/** The status from the moment on when the processes of policies have to end. */
export function runningStatus(
  restore: TenantRestore,
  { startTime, ...waiting }: Waiting & { readonly startTime?: string },
  now: Date,
): TenantRestoreStatus {
  const started = startTime === undefined ? {} : { startTime };
  return { ...withConditions(restore, incomplete(waiting), now), phase: 'Running', ...started };
}

/** The status of a restore that was given up. */
export function failedStatus(
  restore: TenantRestore,
  { reason, message }: { readonly reason: ReasonOf<'TenantRestore', 'Failed'>; readonly message: string },
  now: Date,
): TenantRestoreStatus {
  const conditions = [
    state({ type: 'Complete', status: 'False', reason: 'Failed', message }),
    state({ type: 'Failed', status: 'True', reason, message }),
  ];
  return { ...withConditions(restore, conditions, now), phase: 'Failed' };
}

/** The status of a restore that has succeeded. */
export function completedStatus(restore: TenantRestore, restoredTime: string, now: Date): TenantRestoreStatus {
  const message = `restored as of ${restoredTime}`;
  const conditions = [
    state({ type: 'Complete', status: 'True', reason: 'Completed', message }),
    state({ type: 'Failed', status: 'False', reason: 'NotFailed', message: '' }),
  ];
  return {
    ...withConditions(restore, conditions, now),
    ...{ phase: 'Completed', restoredTime, completionTime: now.toISOString() },
  };
}

const incomplete = ({ reason, message }: Waiting): readonly StatedCondition[] => [
  state({ type: 'Complete', status: 'False', reason, message }),
  state({ type: 'Failed', status: 'False', reason: 'NotFailed', message: '' }),
];

function state<T extends 'Complete' | 'Failed'>(
  condition: StatedCondition<T, ReasonOf<'TenantRestore', NoInfer<T>>>,
): StatedCondition {
  return stateCondition('TenantRestore', condition);
}

function withConditions(
  { metadata, status }: TenantRestore,
  conditions: readonly StatedCondition[],
  now: Date,
): TenantRestoreStatus {
  const at = { generation: metadata.generation, now };
  return {
    ...status,
    observedGeneration: at.generation,
    conditions: setConditions(status?.conditions ?? [], conditions, at),
  };
}

import { stateCondition } from '../../api/conditions.ts';
import type { ReasonOf, StatedCondition } from '../../api/conditions.ts';
import type { BackupEntry, BackupPolicy, BackupPolicyStatus } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { setCondition } from '../../runtime/reconcile/conditions.ts';
import { nextBackup } from '../../stores/backup/backup-schedule.ts';
import type { NoProcess } from './wanted-process.ts';

/** A process reports once a minute; one that has not for so long does not save changes. In milliseconds. */
const silentMs = 5 * 60_000;

/** A backup takes a while: it is missing only so long after it was due. In milliseconds. */
const graceMs = 15 * 60_000;

/** What is known of the process of a policy. */
export interface ProcessFacts {
  /** Why it is not to run; undefined if it is. */
  readonly none: NoProcess | undefined;
  /** What keeps its pods from running; empty if nothing does. */
  readonly troubles: string;
  /** When its Deployment was created; undefined if there is none. */
  readonly startedAt: string | undefined;
}

/** The status, and when to requeue the object if no event enqueues it before. */
export interface PolicyVerdict {
  readonly status: BackupPolicyStatus;
  readonly afterMs?: number;
}

/** The whole status after a reconcile. */
export function policyStatus(policy: BackupPolicy, facts: ProcessFacts, now: Date): PolicyVerdict {
  const { backups = [], changesUntil } = policy.status?.process ?? {};
  const newest = backups.at(-1);
  const until = latest(changesUntil, newest?.changesUntil ?? newest?.time);
  const ready = facts.none === undefined ? running(policy, facts, now) : stopped(facts.none);
  return {
    status: {
      ...withCondition(policy, stateCondition('BackupPolicy', ready.condition), now),
      ...(newest !== undefined && { lastBackupTime: newest.time, recoverableUntil: until }),
      ...(backups[0] !== undefined && { recoverableFrom: backups[0].time }),
      backups: backups.length,
    },
    ...(ready.afterMs !== undefined && { afterMs: ready.afterMs }),
  };
}

/** The status while the object is being deleted. */
export function deletingStatus(
  policy: BackupPolicy,
  { reason, message }: { readonly reason: ReasonOf<'BackupPolicy', 'Deleting'>; readonly message: string },
  now: Date,
): BackupPolicyStatus {
  const stated = { type: 'Deleting', status: 'True', reason, message } as const;
  return withCondition(policy, stateCondition('BackupPolicy', stated), now);
}

type ReadyCondition = StatedCondition<'Ready', ReasonOf<'BackupPolicy', 'Ready'>>;

interface Ready {
  readonly condition: ReadyCondition;
  readonly afterMs?: number;
}

const not = (reason: ReadyCondition['reason'], message: string, afterMs?: number): Ready => ({
  condition: { type: 'Ready', status: 'False', reason, message },
  ...(afterMs !== undefined && { afterMs }),
});

const stopped = ({ reason, message }: NoProcess): Ready => not(reason, message);

function running(policy: BackupPolicy, facts: ProcessFacts, now: Date): Ready {
  const { backups = [], problem } = policy.status?.process ?? {};
  if (problem !== undefined) return not('ProcessFailed', problem, silentMs);
  const newest = backups.at(-1);
  if (newest === undefined) return not('Starting', `no backup has been taken yet${becauseOf(facts)}`, silentMs);
  return following(policy, newest, facts, now);
}

const becauseOf = ({ troubles }: ProcessFacts): string => (troubles === '' ? '' : `: ${troubles}`);

/** Whether backups come when they are due, and changes all the time. */
function following(policy: BackupPolicy, newest: BackupEntry, facts: ProcessFacts, now: Date): Ready {
  const { backups = [], changesUntil = '' } = policy.status?.process ?? {};
  const because = becauseOf(facts);
  const { startedAt = '' } = facts;
  const reported = Date.parse(changesUntil || newest.time);
  // It cannot be known when a Deployment without a condition began.
  const started = Date.parse(startedAt) || 0;
  const due = nextBackup(policy.spec, new Date(newest.time));
  const missingAt = Math.max(due?.getTime() ?? Infinity, started) + graceMs;
  const silentAt = Math.max(reported, started) + silentMs;
  if (now.getTime() >= missingAt) {
    return not('BackupOverdue', `a backup was due at ${due?.toISOString() ?? 'no time'}${because}`, silentMs);
  }
  if (now.getTime() >= silentAt) {
    return not('BackupOverdue', `changes are saved only up to ${changesUntil || newest.time}${because}`, silentMs);
  }
  const afterMs = Math.min(missingAt, silentAt) - now.getTime();
  if (started > reported)
    return not('Starting', `no backup has been taken since the process started${because}`, afterMs);
  // Up to which moment is in a field of its own: it moves once a minute.
  const message = `${backups.length === 1 ? '1 backup exists, from' : `${backups.length} backups exist, the oldest from`} ${backups[0]?.time ?? newest.time}`;
  return { condition: { type: 'Ready', status: 'True', reason: 'BackingUp', message }, afterMs };
}

function latest(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left > right ? left : right;
}

function withCondition({ metadata, status }: BackupPolicy, condition: StatedCondition, now: Date): BackupPolicyStatus {
  const at = { generation: metadata.generation, now };
  return {
    ...status,
    observedGeneration: at.generation,
    conditions: setCondition(status?.conditions ?? [], condition, at),
  };
}

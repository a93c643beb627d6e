import type { MigrationPhase, MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { MigrationRecord } from '../../../../stores/migration/migration-journal.ts';
import type { MigrationProgress } from '../../../../stores/migration/migration-progress.ts';
import { durationAnnotation } from '../../components/duration-annotation.ts';
import { inPhase, lastsMs, thawed, undoing } from '../../components/migration-record.ts';
import { annotations } from '../../../../api/names.ts';
import { without } from '../../components/without.ts';
import { findJob, jobTroubles, tellJob } from './job.ts';
import type { FoundJob } from './job.ts';
import { onward, patience, waiting } from './migration-visit.ts';
import type { MigrationVisit, Step } from './migration-visit.ts';
import { podsOf } from './pods.ts';
import { prepare } from './preparing.ts';
import { freeze, thaw } from './tenant-freeze.ts';

/** Between two looks at a freeze that is not in force everywhere. */
const againMs = 100;

/** A Job whose process has not begun after this time is looked at more closely. */
const slowStartMs = 20_000;

/** While the process copies: takes over what it says, and gives it the freeze when it asks. */
export async function copy(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = visit;
  const found = await findJob({ tcp: scope.tcp, deps, signal: ctx.signal }, record);
  if (record.phase === 'Preparing' && (found === undefined || found === 'other')) return prepare(visit, record);
  if (found === undefined || found === 'other') return failed(visit, record, 'its Job was removed while it worked');
  const { journal, failure, problem } = found.channel;
  if (journal?.phase === 'Done') return onward(switched(visit, record, found));
  const end = failure ?? endOf(journal) ?? found.givenUp ?? overdue(visit, record);
  if (end !== undefined) return failed(visit, record, problem === undefined ? end : `${end}: ${problem}`);
  if (journal === undefined) return starting(visit, record, problem);
  if (found.channel.freezeWanted !== undefined) return frozen(visit, record, found);
  const seen = withProgress(record, found.channel.progress);
  if (record.phase === 'Freezing' || record.phase === 'Finishing') return released(visit, seen);
  return { record: inPhase(seen, phaseOf(journal) ?? record.phase, ctx.now, told(found.channel.progress)) };
}

function failed({ ctx }: MigrationVisit, record: MigrationStatus, message: string): Step {
  return onward(undoing(record, ctx.now, { ending: 'Failed', message }));
}

/** The process keeps to its time by itself; one that never began, or began too often, is given up here. */
function overdue({ scope, ctx }: MigrationVisit, { startedAt }: MigrationStatus): string | undefined {
  const allowedMs = durationAnnotation(scope.tcp.metadata, annotations.migrationTimeout) ?? patience.wholeMs;
  const over = ctx.now.getTime() - Date.parse(startedAt) > allowedMs + patience.undoingMs;
  return over ? `it took longer than ${allowedMs / 1000} s` : undefined;
}

/** What keeps the Job from beginning; its pods are asked when it takes longer than a pod does. */
async function starting(
  { scope, deps, ctx }: MigrationVisit,
  record: MigrationStatus,
  problem: string | undefined,
): Promise<Step> {
  const late = lastsMs(record, ctx.now) >= slowStartMs;
  const troubles = problem ?? (late ? await jobTroubles({ tcp: scope.tcp, deps, signal: ctx.signal }) : '');
  return waiting(record, `the Job starts${troubles === '' ? '' : `: ${troubles}`}`, slowStartMs);
}

/** Why the process has undone the migration, or is about to. */
function endOf(journal: MigrationRecord | undefined): string | undefined {
  if (journal?.phase !== 'RollingBack' && journal?.phase !== 'RolledBack') return undefined;
  return journal.reason ?? 'the copy was undone';
}

function phaseOf(journal: MigrationRecord | undefined): MigrationPhase | undefined {
  const phase = journal?.phase;
  return phase === 'Copying' || phase === 'Following' ? phase : undefined;
}

function told(progress: MigrationProgress | undefined): Partial<MigrationStatus> {
  return progress?.problem === undefined ? {} : { message: progress.problem };
}

function withProgress(record: MigrationStatus, progress: MigrationProgress | undefined): MigrationStatus {
  if (progress === undefined) return record;
  return {
    ...without(record, 'remaining'),
    keys: progress.keys,
    bytes: progress.bytes,
    rate: Math.round(progress.keysPerSecond),
    ...(progress.remainingKeys !== undefined && { remaining: progress.remainingKeys }),
  };
}

/** The process has what it needs: from the next visit on the pods are told of the target. */
function switched({ ctx }: MigrationVisit, record: MigrationStatus, { channel }: FoundJob): MigrationStatus {
  const summary = channel.journal?.summary;
  const seen = withProgress(record, channel.progress);
  return inPhase(seen, 'Switching', ctx.now, {
    ...(summary !== undefined && { keys: summary.keys }),
    remaining: 0,
    // The process asked for nothing else before it finished, also when the manager died before it took note.
    frozenAt: record.frozenAt ?? ctx.now.toISOString(),
    switchedAt: ctx.now.toISOString(),
  });
}

/** Denies writes for the process. The wish and the policy are recorded first, so that they are never forgotten. */
async function frozen(visit: MigrationVisit, record: MigrationStatus, { channel }: FoundJob): Promise<Step> {
  const { scope, deps, ctx } = visit;
  const seen = withProgress(record, channel.progress);
  const policyInTenant = record.policyInTenant === true || (await podsOf(visit)).length > 0;
  if (record.phase !== 'Freezing' && record.phase !== 'Finishing') {
    return onward(inPhase(seen, 'Freezing', ctx.now, { policyInTenant }));
  }
  if (policyInTenant && record.policyInTenant !== true) return onward({ ...seen, policyInTenant });
  const isAnswered = channel.freezeWanted === channel.freezeInForce;
  const limit = record.phase === 'Finishing' ? patience.finishingMs : patience.freezingMs;
  if (lastsMs(record, ctx.now) > limit) {
    const message = isAnswered
      ? 'the last changes took too long to copy'
      : 'not every API server denied writes in time';
    return failed(visit, record, `${message}: ${record.message ?? 'nothing more is known'}`);
  }
  if (record.phase === 'Finishing' && isAnswered) {
    return { record: seen, afterMs: limit - lastsMs(record, ctx.now) };
  }
  const doubt = await freeze(visit);
  if (doubt !== undefined) return waiting(seen, doubt, againMs);
  const frozenAt = record.frozenAt ?? deps.clock.now().toISOString();
  await tellJob(
    { tcp: scope.tcp, deps, signal: ctx.signal },
    { [annotations.migrationFreezeInForce]: channel.freezeWanted },
  );
  return { record: inPhase(seen, 'Finishing', ctx.now, { frozenAt }) };
}

/** The process does without the freeze for now: writes are allowed again before it asks once more. */
async function released(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = visit;
  if (record.policyInTenant === true) await thaw(visit);
  await tellJob({ tcp: scope.tcp, deps, signal: ctx.signal }, { [annotations.migrationFreezeInForce]: undefined });
  return { record: inPhase(thawed(record, deps.clock.now()), 'Following', ctx.now) };
}

import { annotations } from '../../../../api/names.ts';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { raiseAbove } from '../../../../stores/migration/raise-above.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { inPhase, lastsMs, thawed } from '../../components/migration-record.ts';
import { failedRemedy, way } from '../../components/migration-text.ts';
import { without } from '../../components/without.ts';
import { findJob, removeJob, tellJob } from './job.ts';
import { patience } from './migration-visit.ts';
import type { MigrationVisit, Step } from './migration-visit.ts';
import { rolloutTo } from './pods.ts';
import { openShare, unfence } from './shares.ts';
import type { OpenShare } from './shares.ts';
import { thaw } from './tenant-freeze.ts';

const lookMs = 200;

/**
 * Puts everything back as it was: writes first, since people wait for them, then what is left of the copy. The process of the
 * migration is told to undo its own part; what it does not do in time is done here once it is gone.
 */
export async function rollBack(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = visit;
  const place = { tcp: scope.tcp, deps, signal: ctx.signal };
  const opening = { deps, signal: ctx.signal };
  const source = await openShare(scope.tcp, record.source, opening);
  if (record.switchedAt !== undefined && record.frozenAt !== undefined) await liftSource(visit, record, source);
  await unfence(source);
  const writable = await allowWrites(visit, record);
  if ('afterMs' in writable) return writable;
  const open = writable.record;
  const undone = await processHasUndone(visit, open);
  if (!undone) return { record: open, afterMs: lookMs };
  if (!(await removeJob(place))) return { record: open, afterMs: lookMs };
  // What the process did last may have been to take the writes.
  await unfence(source);
  await dropTarget(visit, open);
  const { ending = 'Failed', message = '' } = open;
  const type = ending === 'Failed' ? 'Warning' : 'Normal';
  const remedy = ending === 'Failed' ? `; ${failedRemedy}` : '';
  ctx.event(type, `Migration${ending}`, `the data did not move ${way(open)}: ${message}${remedy}`);
  const rest = without(open, 'ending', 'switchedAt', 'rolledOutAt');
  return { record: { ...inPhase(rest, ending, ctx.now), message, finishedAt: ctx.now.toISOString() } };
}

/**
 * Makes the source's later revisions greater than those that clients have seen of the target: watches would miss what happens
 * in between. A target that does not answer is given the time to; without it writes are denied no longer for that.
 */
async function liftSource(visit: MigrationVisit, record: MigrationStatus, source: OpenShare): Promise<void> {
  const { scope, deps, ctx } = visit;
  try {
    const target = await openShare(scope.tcp, record.target, { deps, signal: ctx.signal });
    await source.open.use((from) =>
      target.open.use(async (to) => {
        if (from.data === undefined || to.data === undefined) return;
        await using low = await from.data(source.tenancy);
        await using high = await to.data(target.tenancy);
        await raiseAbove(low, high, () => {
          ctx.signal.throwIfAborted();
        });
      }),
    );
  } catch (error) {
    const isFinal = error instanceof StoreError && error.reason === 'Unsupported';
    if (!isFinal && lastsMs(record, ctx.now) <= patience.undoingMs) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const message = `clients that watch should be started anew: revisions begin below those they have seen (${why})`;
    ctx.event('Warning', 'RevisionsLower', message);
  }
}

/** Once only pods on the source are there, writes are allowed again. A Step with `afterMs` when that is waited for. */
async function allowWrites(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { deps } = visit;
  if (record.switchedAt !== undefined) {
    const rollout = await rolloutTo(record.source, visit);
    // All of them need not be there: perhaps they never were.
    if (!rollout.answers || rollout.leaving.length > 0) return { record, afterMs: lookMs };
  }
  if (record.policyInTenant === true) await thaw(visit);
  return { record: thawed(record, deps.clock.now()) };
}

/** True when the process has nothing more to undo, or had its time for it. */
async function processHasUndone({ scope, deps, ctx }: MigrationVisit, record: MigrationStatus): Promise<boolean> {
  const place = { tcp: scope.tcp, deps, signal: ctx.signal };
  const found = await findJob(place, record);
  if (found === undefined || found === 'other') return true;
  const { journal, cancel, failure } = found.channel;
  if (journal === undefined || journal.phase === 'Done' || journal.phase === 'RolledBack') return true;
  if (failure !== undefined || found.givenUp !== undefined || lastsMs(record, ctx.now) > patience.undoingMs)
    return true;
  if (cancel === undefined)
    await tellJob(place, { [annotations.migrationCancel]: record.message ?? 'it is not wanted any more' });
  return false;
}

/** Removes the target's share. What another owner has under these names was never ours. */
async function dropTarget({ scope, deps, ctx }: MigrationVisit, record: MigrationStatus): Promise<void> {
  if (record.target.schema === undefined) return;
  const target = await openShare(scope.tcp, record.target, { deps, signal: ctx.signal });
  try {
    await target.open.use((session) => session.remove(target.tenancy));
  } catch (error) {
    if (!(error instanceof StoreError) || (error.reason !== 'OwnedByAnother' && error.reason !== 'InvalidName'))
      throw error;
  }
}

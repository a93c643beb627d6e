import { durationAnnotation } from '../../shared/duration-annotation.ts';
import { annotations } from '../../../../api/names.ts';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import {
  failedRemedy,
  inPhase,
  lastsMs,
  leftBehind,
  msBetween,
  pauseText,
  thawed,
  undoing,
  way,
} from './migration-record.ts';
import { findJob, removeJob, notifyJob } from './job.ts';
import { onward, timeLimits, waiting } from './migration-step.ts';
import type { MigrationStep, Step } from './migration-step.ts';
import { podTroubles, rolloutTo } from './pods.ts';
import { openShare, unfence } from './tenancies.ts';
import { keepFrozen, proveFrozen, thaw } from './tenant-read-only.ts';
import { bumpRevision } from '../../../../stores/migration/bump-revision.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { without } from '../../shared/without.ts';
import type { OpenShare } from './tenancies.ts';

/** Until the read-only policy is checked again, which administrators of the tenant can delete, in milliseconds. */
const freezeLookMs = 2_000;

/** Until pods are checked again, which no watch reports, in milliseconds. */
const lookMs = 200;

/**
 * Waits until every pod uses the target. The read-only policy was copied with the data, so the new API servers deny writes, too:
 * until it is lifted, the copies differ only in what API servers write for themselves, and the migration can still be rolled
 * back. Where all were stopped, the Service leads to none of the new ones until then, which does the same; the first that is ready is
 * enough, since users get no answer before.
 */
export async function rollOut(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = step;
  const rollout = await rolloutTo(record.target, step);
  const stops = record.stoppedAt !== undefined;
  const [serves, leaving] = stops ? [rollout.answers, rollout.elsewhere] : [rollout.serves, rollout.leaving];
  const isLate = lastsMs(record, ctx.now) > timeLimits.switchingMs;
  const old = leaving.map(({ metadata }) => metadata.name).join(', ');
  if (record.policyInTenant === true && rollout.current.length > 0) await keepFrozen(step);
  if (!serves && isLate) {
    const why = podTroubles(rollout.current);
    const message = `the pods did not become ready on DataStore ${record.target.dataStoreName} in time${why === '' ? '' : `: ${why}`}`;
    return onward(undoing(record, ctx.now, { ending: 'Failed', message }));
  }
  if (!serves) {
    const why = podTroubles(rollout.current);
    return waiting(record, `pods on the target are starting${why === '' ? '' : `: ${why}`}`, lookMs);
  }
  if (leaving.length > 0 && stops && isLate) {
    const message = `pods on the old DataStore did not stop in time: ${old}`;
    return onward(undoing(record, ctx.now, { ending: 'Failed', message }));
  }
  if (leaving.length > 0) return waiting(record, `pods on the old DataStore are stopping: ${old}`, lookMs);
  if (record.policyInTenant === true) {
    const doubt = await proveFrozen(rollout.current, step);
    if (doubt !== undefined) return waiting(record, doubt, lookMs);
  }
  const now = deps.clock.now();
  const rolled = record.rolledOutAt === undefined ? { ...record, rolledOutAt: now.toISOString() } : record;
  const since = rolled.stoppedAt ?? rolled.writesStoppedAt ?? rolled.startedAt;
  const left = Date.parse(since) + holdMs(scope.tcp, deps.migrations.minimumHoldMs) - now.getTime();
  if (left > 0)
    return waiting(rolled, 'Migrating is shown for the requested minimum time', Math.min(left, freezeLookMs));
  return onward(inPhase(rolled, 'ResumingWrites', ctx.now));
}

/** How long Migrating is shown at least: as the tenant's annotation says, otherwise as configured for the manager. */
function holdMs({ metadata }: TenantControlPlane, byDefault: number): number {
  return durationAnnotation(metadata, annotations.migrationMinimumHold) ?? byDefault;
}

/** Allows writes again; the Service leads to the new pods by now. From here on the migration cannot be rolled back. */
export async function lift(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { deps, ctx } = step;
  if (record.policyInTenant === true) await thaw(step);
  const done = thawed(record, deps.clock.now());
  const { switchedAt, rolledOutAt } = record;
  const rolloutMs =
    switchedAt === undefined || rolledOutAt === undefined ? {} : { rolloutMs: msBetween(switchedAt, rolledOutAt) };
  return onward(inPhase(done, 'Revoking', ctx.now, rolloutMs));
}

/** Revokes the tenant's access to the source, whose data is retained until its removal is requested. */
export async function revoke(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = step;
  const { tcp } = scope;
  const { signal } = ctx;
  const source = await openShare(tcp, record.source, { deps, signal });
  await source.open.use(async (session) => session.revoke?.(source.tenancy));
  if (!(await removeJob({ tcp, deps, signal })))
    return waiting(record, 'the Job of the migration is being removed', lookMs);
  const done = { ...inPhase(record, 'Succeeded', ctx.now), finishedAt: ctx.now.toISOString() };
  const isRemoved = source.store.spec.drain?.previousCopies === 'Remove';
  const fate = isRemoved
    ? 'is removed, as its spec.drain requests'
    : `is retained until the annotation ${annotations.removePreviousData} names it`;
  const kept = `the copy in DataStore ${record.source.dataStoreName} ${fate}`;
  ctx.event('Normal', 'MigrationSucceeded', `the data was migrated ${way(record)}: ${pauseText(record)}; ${kept}`);
  ctx.log.info('the data of a tenant was migrated', { ...migrationNumbers(record) });
  return { ...onward({ ...done, message: pauseText(record) }), leftBehind: leftBehind(record, ctx.now) };
}

function migrationNumbers({ source, target, keys, bytes, pauseMs, rolloutMs }: MigrationStatus): object {
  return { source: source.dataStoreName, target: target.dataStoreName, keys, bytes, pauseMs, rolloutMs };
}

/**
 * Restores the state before the migration: writes first, since people wait for them, then the rest of the copy. The process of
 * the migration is requested to roll back its own part; what it does not finish in time is done here once it is gone.
 */
export async function rollBack(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = step;
  const place = { tcp: scope.tcp, deps, signal: ctx.signal };
  const opening = { deps, signal: ctx.signal };
  const source = await openShare(scope.tcp, record.source, opening);
  // Where all were stopped, no client has seen the target.
  const isSeen =
    record.switchedAt !== undefined && record.writesStoppedAt !== undefined && record.stoppedAt === undefined;
  if (isSeen) await liftSource(step, record, source);
  await unfence(source);
  // A process that continues would fence the source again, and API servers would not start there.
  const undone = await processHasUndone(step, record);
  const writable = await allowWrites(step, record);
  if ('afterMs' in writable) return writable;
  const open = writable.record;
  if (!undone) return { record: open, afterMs: lookMs };
  if (!(await removeJob(place))) return { record: open, afterMs: lookMs };
  // The process may have fenced the source last.
  await unfence(source);
  await dropTarget(step, open);
  const { ending = 'Failed', message = '' } = open;
  const type = ending === 'Failed' ? 'Warning' : 'Normal';
  const pause = open.stopsServers === true ? `; ${pauseText(open)}` : '';
  const remedy = ending === 'Failed' ? `; ${failedRemedy(scope.tcp)}` : '';
  ctx.event(type, `Migration${ending}`, `the data was not migrated ${way(open)}: ${message}${pause}${remedy}`);
  const rest = without(open, 'ending', 'switchedAt', 'rolledOutAt');
  // What waited for the end of the migration continues.
  return onward({ ...inPhase(rest, ending, ctx.now), message, finishedAt: ctx.now.toISOString() });
}

/**
 * Raises the source's later revisions above those that clients have seen on the target: otherwise watches would miss events. A
 * target that does not respond gets some time; after that, writes are allowed without this.
 */
async function liftSource(step: MigrationStep, record: MigrationStatus, source: OpenShare): Promise<void> {
  const { scope, deps, ctx } = step;
  try {
    const target = await openShare(scope.tcp, record.target, { deps, signal: ctx.signal });
    await source.open.use((from) =>
      target.open.use(async (to) => {
        if (from.data === undefined || to.data === undefined) return;
        await using low = await from.data(source.tenancy);
        await using high = await to.data(target.tenancy);
        await bumpRevision(low, high, () => {
          ctx.signal.throwIfAborted();
        });
      }),
    );
  } catch (error) {
    const isFinal = error instanceof StoreError && error.reason === 'Unsupported';
    if (!isFinal && lastsMs(record, ctx.now) <= timeLimits.undoingMs) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const message = `restart clients that watch: resource versions now start below those that they have seen (${why})`;
    ctx.event('Warning', 'RevisionsLower', message);
  }
}

/** Allows writes again once only pods on the source are left. A Step with `afterMs` while it waits for that. */
async function allowWrites(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { deps, ctx } = step;
  const stops = record.stopsServers === true;
  if (record.switchedAt !== undefined || record.stoppedAt !== undefined) {
    const rollout = await rolloutTo(record.source, step);
    // Nothing has to be allowed on pods that were stopped, and perhaps they did not serve before either.
    const isAnswered = rollout.answers || (stops && lastsMs(record, ctx.now) > timeLimits.switchingMs);
    const leaving = stops ? rollout.elsewhere : rollout.leaving;
    // Not all of the pods need to be there: perhaps they never were.
    if (!isAnswered || leaving.length > 0) return { record, afterMs: lookMs };
  }
  if (record.policyInTenant === true) await thaw(step);
  return { record: thawed(record, deps.clock.now()) };
}

/** True when the process has nothing more to roll back, or has had its time for it. */
async function processHasUndone({ scope, deps, ctx }: MigrationStep, record: MigrationStatus): Promise<boolean> {
  const place = { tcp: scope.tcp, deps, signal: ctx.signal };
  const found = await findJob(place, record);
  if (found === undefined || found === 'other') return true;
  const { journal, cancel, failure } = found.channel;
  if (journal === undefined || journal.phase === 'Done' || journal.phase === 'RolledBack') return true;
  if (failure !== undefined || found.givenUp !== undefined || lastsMs(record, ctx.now) > timeLimits.undoingMs)
    return true;
  if (cancel === undefined)
    await notifyJob(place, { [annotations.migrationCancel]: record.message ?? 'it is no longer wanted' });
  return false;
}

/** Removes the target's tenancy. If another owner has these names, it was never ours. */
async function dropTarget({ scope, deps, ctx }: MigrationStep, record: MigrationStatus): Promise<void> {
  if (record.target.schema === undefined) return;
  const target = await openShare(scope.tcp, record.target, { deps, signal: ctx.signal });
  try {
    await target.open.use((session) => session.remove(target.tenancy));
  } catch (error) {
    if (!(error instanceof StoreError) || (error.reason !== 'OwnedByAnother' && error.reason !== 'InvalidName'))
      throw error;
  }
}

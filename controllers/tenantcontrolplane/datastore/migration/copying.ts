import type {
  MigrationPhase,
  MigrationStatus,
  TenancyShare,
} from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { MigrationRecord } from '../../../../stores/migration/migration-journal.ts';
import type { MigrationProgress } from '../../../../stores/migration/migration-progress.ts';
import { durationAnnotation } from '../../shared/duration-annotation.ts';
import { inPhase, lastsMs, thawed, undoing } from './migration-record.ts';
import { drainRecord } from '../drain/drain-record.ts';
import { annotations } from '../../../../api/names.ts';
import { without } from '../../shared/without.ts';
import { findJob, jobTroubles, removeJob, startJob, notifyJob } from './job.ts';
import type { FoundJob } from './job.ts';
import { onward, timeLimits, waiting } from './migration-step.ts';
import type { MigrationStep, Step } from './migration-step.ts';
import { overduePods, podsOf, rolloutTo, serversLeft } from './pods.ts';
import { freeze, thaw } from './tenant-read-only.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { migrationBlocker } from './validate-migration.ts';
import { storeTrouble } from '../../shared/store-trouble.ts';
import { refusalRemedy } from '../placement/namespace-refusal.ts';
import { isolationRefusal, isolationRemedy } from '../placement/isolation-refusal.ts';
import { refusalsByStore } from '../placement/namespace-labels.ts';
import { nextShare, openShare, targetShares, withUnknownPassword } from './tenancies.ts';

/** Until the next check while not every API server denies writes yet, in milliseconds. */
const againMs = 100;

/** Until the pods are checked again that are stopping, which no watch reports, in milliseconds. */
const stopAgainMs = 200;

/** Until the next check whether a person has deleted a pod that does not end, in milliseconds. */
const overdueAgainMs = 5_000;

/** A Job whose process has not started after this time is inspected more closely. */
const slowStartMs = 20_000;

/** While the process copies: records its progress, and denies writes when it requests that. */
export async function copy(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = step;
  const found = await findJob({ tcp: scope.tcp, deps, signal: ctx.signal }, record);
  if (record.phase === 'Preparing' && (found === undefined || found === 'other')) {
    return givenUp(step, record) ?? prepare(step, record);
  }
  if (found === undefined || found === 'other') return failed(step, record, 'its Job was deleted while it was running');
  const { journal, failure, problem } = found.channel;
  if (journal?.phase === 'Done') return onward(switched(step, record, found));
  const end = failure ?? endOf(journal) ?? found.givenUp ?? overdue(step, record);
  if (end !== undefined) return failed(step, record, problem === undefined ? end : `${end}: ${problem}`);
  if (journal === undefined) return starting(step, record, problem);
  if (found.channel.freezeWanted !== undefined) return frozen(step, record, found);
  const { progress } = found.channel;
  const seen = withProgress(record, progress);
  if (record.phase === 'StoppingWrites' || record.phase === 'Finishing') return released(step, seen);
  const next = inPhase(seen, phaseOf(journal) ?? record.phase, ctx.now, { message: progress?.problem });
  return { record: await restarted(step, next) };
}

/** The record once the API servers serve again which were stopped for a last part that the process has postponed. */
async function restarted(step: MigrationStep, record: MigrationStatus): Promise<MigrationStatus> {
  if (record.stoppedAt === undefined) return record;
  const { answers } = await rolloutTo(record.source, step);
  if (answers) return thawed(record, step.deps.clock.now());
  return { ...record, message: record.message ?? 'the API servers are starting again' };
}

function failed({ ctx }: MigrationStep, record: MigrationStatus, message: string): Step {
  return onward(undoing(record, ctx.now, { ending: 'Failed', message }));
}

/** The process itself keeps to its time limit; one that never started, or was restarted too often, is given up here. */
function overdue({ scope, ctx }: MigrationStep, { startedAt }: MigrationStatus): string | undefined {
  const allowedMs = durationAnnotation(scope.tcp.metadata, annotations.migrationTimeout) ?? timeLimits.wholeMs;
  const over = ctx.now.getTime() - Date.parse(startedAt) > allowedMs + timeLimits.undoingMs;
  return over ? `it took longer than ${allowedMs / 1000} s` : undefined;
}

/** What keeps the Job from starting; its pods are inspected when it takes longer than a pod usually does. */
async function starting(
  { scope, deps, ctx }: MigrationStep,
  record: MigrationStatus,
  problem: string | undefined,
): Promise<Step> {
  const late = lastsMs(record, ctx.now) >= slowStartMs;
  const troubles = problem ?? (late ? await jobTroubles({ tcp: scope.tcp, deps, signal: ctx.signal }) : '');
  return waiting(record, `the Job is starting${troubles === '' ? '' : `: ${troubles}`}`, slowStartMs);
}

/** Why the process has rolled the migration back, or is about to. */
function endOf(journal: MigrationRecord | undefined): string | undefined {
  if (journal?.phase !== 'RollingBack' && journal?.phase !== 'RolledBack') return undefined;
  return journal.reason ?? 'the copy was rolled back';
}

function phaseOf(journal: MigrationRecord | undefined): MigrationPhase | undefined {
  const phase = journal?.phase;
  return phase === 'Copying' || phase === 'Following' ? phase : undefined;
}

function withProgress(record: MigrationStatus, progress: MigrationProgress | undefined): MigrationStatus {
  if (progress === undefined) return record;
  return {
    ...without(record, 'remaining'),
    keys: progress.keys,
    bytes: progress.bytes,
    rate: Math.round(progress.keysPerSecond),
    remaining: progress.remainingKeys,
  };
}

/** The copy is complete: from the next reconcile on, the pods use the target. */
function switched({ ctx }: MigrationStep, record: MigrationStatus, { channel }: FoundJob): MigrationStatus {
  const summary = channel.journal?.summary;
  const seen = withProgress(record, channel.progress);
  return inPhase(seen, 'Switching', ctx.now, {
    ...(summary !== undefined && { keys: summary.keys }),
    remaining: 0,
    // The process requested read-only before it finished, even if the manager died before it recorded that.
    writesStoppedAt: record.writesStoppedAt ?? ctx.now.toISOString(),
    switchedAt: ctx.now.toISOString(),
  });
}

/**
 * Denies writes for the process, or stops the API servers. The request and the policy, or the stop, are recorded first, so that they
 * are never forgotten.
 */
async function frozen(step: MigrationStep, record: MigrationStatus, { channel }: FoundJob): Promise<Step> {
  const { scope, deps, ctx } = step;
  const seen = withProgress(record, channel.progress);
  const stops = record.stopsServers === true;
  const policyInTenant = !stops && (record.policyInTenant === true || (await podsOf(step)).length > 0);
  if (record.phase !== 'StoppingWrites' && record.phase !== 'Finishing') {
    return stops ? stop(step, seen) : onward(inPhase(seen, 'StoppingWrites', ctx.now, { policyInTenant }));
  }
  if (policyInTenant && record.policyInTenant !== true) return onward({ ...seen, policyInTenant });
  const isAnswered = channel.freezeWanted === channel.freezeInForce;
  const limit = limitOf(record);
  if (lastsMs(record, ctx.now) > limit) {
    const late = stops ? 'not every API server stopped in time' : 'not every API server denied writes in time';
    const message = isAnswered ? 'copying the last changes took too long' : late;
    return failed(step, record, `${message}: ${record.message ?? 'no further details are known'}`);
  }
  if (record.phase === 'Finishing' && isAnswered) {
    return { record: seen, afterMs: limit - lastsMs(record, ctx.now) };
  }
  const doubt = await (stops ? serversLeft(step) : freeze(step));
  if (doubt !== undefined) return waiting(seen, doubt, stops ? stopAgainMs : againMs);
  const writesStoppedAt = record.writesStoppedAt ?? deps.clock.now().toISOString();
  await notifyJob(
    { tcp: scope.tcp, deps, signal: ctx.signal },
    { [annotations.migrationFreezeInForce]: channel.freezeWanted },
  );
  const message = stops ? 'no API server runs now' : undefined;
  return { record: inPhase(seen, 'Finishing', ctx.now, { writesStoppedAt, message }) };
}

/** How long the phase in which writes are about to be denied, or are denied, may last. */
function limitOf({ phase, stopsServers }: MigrationStatus): number {
  if (phase === 'Finishing') return timeLimits.finishingMs;
  return stopsServers === true ? timeLimits.stoppingMs : timeLimits.freezingMs;
}

/**
 * Records that no API server may run from the next reconcile on. If one will not stop because its node is lost, it is not begun: the
 * tenant would be down in vain until the time is over.
 */
async function stop(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { scope, ctx } = step;
  const overdue = await overduePods(step, ctx.now);
  if (overdue !== '') {
    const remedy = 'if its node is down, delete the pod with --force';
    const message = `the API servers are stopped once this pod is gone, which should have terminated long ago: ${overdue}; ${remedy}`;
    return waiting(record, message, overdueAgainMs);
  }
  const { replicas = 0 } = scope.observed.deployment?.spec ?? {};
  return onward(
    inPhase(record, 'StoppingWrites', ctx.now, {
      stoppedAt: record.stoppedAt ?? ctx.now.toISOString(),
      ...(replicas > 0 && { replicas }),
      message: 'the API servers are being stopped, because their version of Kubernetes cannot deny writes',
    }),
  );
}

/** The process does not need read-only for now: writes are allowed again, or the API servers started, until its next request. */
async function released(step: MigrationStep, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = step;
  if (record.policyInTenant === true) await thaw(step);
  await notifyJob({ tcp: scope.tcp, deps, signal: ctx.signal }, { [annotations.migrationFreezeInForce]: undefined });
  // They are stopped until they serve again.
  const open = record.stopsServers === true ? without(record, 'writesStoppedAt') : thawed(record, deps.clock.now());
  return { record: inPhase(open, 'Following', ctx.now) };
}

const removalMs = 500;

/** A target that a drain has chosen is given up if it cannot be used for this time, in milliseconds: another one may fit. */
const drainPreparingMs = 5 * 60_000;

function givenUp(step: MigrationStep, record: MigrationStatus): Step | undefined {
  const { target, startedAt, message = 'no further details are known' } = record;
  const lastsForMs = step.ctx.now.getTime() - Date.parse(startedAt);
  const isOfDrain = drainRecord(step.scope.tcp)?.dataStoreName === target.dataStoreName;
  return isOfDrain && lastsForMs > drainPreparingMs
    ? failed(step, record, `it could not begin: ${message}`)
    : undefined;
}

/**
 * Chooses the names of the tenancy, creates it, and starts the Job that fills it. Names are recorded before they are tried, so
 * that a deletion knows them.
 */
export async function prepare(step: MigrationStep, record: Step['record']): Promise<Step> {
  const { scope, deps, ctx } = step;
  const { tcp } = scope;
  const { signal } = ctx;
  const place = { tcp, deps, signal };
  const { target } = record;
  const share = await openShare(tcp, target, { deps, signal });
  const trouble = storeTrouble(share.store);
  if (trouble !== undefined) {
    return waiting(record, `DataStore ${target.dataStoreName} cannot be used: ${trouble.message}`);
  }
  const refusals = await refusalsByStore(tcp.metadata.namespace, [share.store], {
    cluster: deps.cluster,
    signal,
  });
  const refusal = refusals.get(target.dataStoreName);
  if (refusal !== undefined)
    return failed(step, record, `DataStore ${target.dataStoreName} ${refusal}: ${refusalRemedy}`);
  const isolation = isolationRefusal(share.store);
  if (isolation !== undefined)
    return waiting(record, `DataStore ${target.dataStoreName} ${isolation}: ${isolationRemedy}`);
  const blocker = migrationBlocker(tcp, [record.source.driver ?? '', share.open.driver]);
  if (blocker !== undefined) return failed(step, record, `spec.dataStore ${blocker.reason}: ${blocker.remedy}`);
  const shares = targetShares(tcp, record, share.open.driver);
  if (target.schema === undefined) return named(step, record, shares[0]);
  if ((await findJob(place, record)) === 'other') {
    if (!(await removeJob(place)))
      return waiting(record, 'the Job of an earlier migration is being removed', removalMs);
  }
  try {
    await share.open.use((session) => session.ensure(withUnknownPassword(share)));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === 'OwnedByAnother' || error.reason === 'InvalidName') {
      return named(step, record, nextShare(shares, target), error.message);
    }
    if (error.reason === 'SingleTenant' || error.reason === 'Unsupported') return failed(step, record, error.message);
    throw error;
  }
  try {
    await startJob(place, record);
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 403 && error.code !== 422)) throw error;
    return waiting(record, `the Job cannot be started: ${error.message}`, removalMs * 20);
  }
  return waiting(record, 'the Job is starting');
}

/** The record with the names to try next. */
function named(step: MigrationStep, record: Step['record'], share: TenancyShare | undefined, why = ''): Step {
  if (share === undefined) return failed(step, record, `no name for the tenant's tenancy is free: ${why}`);
  return onward(inPhase(record, 'Preparing', step.ctx.now, { target: share }));
}

import { durationAnnotation } from '../../components/duration-annotation.ts';
import { annotations } from '../../../../api/names.ts';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { inPhase, lastsMs, leftBehind, thawed, undoing } from '../../components/migration-record.ts';
import { pauseText, way } from '../../components/migration-text.ts';
import { removeJob } from './job.ts';
import { onward, patience, waiting } from './migration-visit.ts';
import type { MigrationVisit, Step } from './migration-visit.ts';
import { podTroubles } from './pod-troubles.ts';
import { rolloutTo } from './pods.ts';
import { openShare } from './shares.ts';
import { keepFrozen, proveFrozen, thaw } from './tenant-freeze.ts';

/** Between two looks at the freeze, which administrators of the tenant can take away. */
const freezeLookMs = 2_000;

/** Between two looks at pods, of which no watch tells. */
const lookMs = 200;

/**
 * Waits until every pod uses the target. The freeze came along with the data, so that the new API servers deny writes too: until
 * it is lifted nothing but what API servers write for themselves differs between the copies, and all can still be undone.
 */
export async function rollOut(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = visit;
  const rollout = await rolloutTo(record.target, visit);
  if (record.policyInTenant === true && rollout.current.length > 0) await keepFrozen(visit);
  if (!rollout.serves && lastsMs(record, ctx.now) > patience.switchingMs) {
    const why = podTroubles(rollout.current);
    const message = `the pods did not become ready on DataStore ${record.target.dataStoreName} in time${why === '' ? '' : `: ${why}`}`;
    return onward(undoing(record, ctx.now, { ending: 'Failed', message }));
  }
  if (!rollout.serves) {
    const why = podTroubles(rollout.current);
    return waiting(record, `pods on the target are starting${why === '' ? '' : `: ${why}`}`, lookMs);
  }
  if (rollout.leaving.length > 0) {
    const names = rollout.leaving.map(({ metadata }) => metadata.name ?? '').join(', ');
    return waiting(record, `pods on the old store are stopping: ${names}`, lookMs);
  }
  if (record.policyInTenant === true) {
    const doubt = await proveFrozen(rollout.current, visit);
    if (doubt !== undefined) return waiting(record, doubt, lookMs);
  }
  const now = deps.clock.now();
  const rolled = record.rolledOutAt === undefined ? { ...record, rolledOutAt: now.toISOString() } : record;
  const left =
    Date.parse(rolled.frozenAt ?? rolled.startedAt) + holdMs(scope.tcp, deps.migrations.minimumHoldMs) - now.getTime();
  if (left > 0) return waiting(rolled, 'Migrating is shown for as long as was asked for', Math.min(left, freezeLookMs));
  return onward(inPhase(rolled, 'Thawing', ctx.now));
}

/** For how long Migrating is to be shown at least: what the tenant says, else what the operator was told. */
function holdMs({ metadata }: TenantControlPlane, byDefault: number): number {
  return durationAnnotation(metadata, annotations.migrationMinimumHold) ?? byDefault;
}

/** Allows writes again. From here on nothing can be undone. */
export async function lift(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { deps, ctx } = visit;
  if (record.policyInTenant === true) await thaw(visit);
  const done = thawed(record, deps.clock.now());
  const { switchedAt, rolledOutAt } = record;
  const rolloutMs =
    switchedAt === undefined || rolledOutAt === undefined
      ? {}
      : { rolloutMs: Date.parse(rolledOutAt) - Date.parse(switchedAt) };
  return onward(inPhase(done, 'Revoking', ctx.now, rolloutMs));
}

/** Takes the tenant's credentials their access to the source, whose data stays until somebody wants it gone. */
export async function revoke(visit: MigrationVisit, record: MigrationStatus): Promise<Step> {
  const { scope, deps, ctx } = visit;
  const { tcp } = scope;
  const { signal } = ctx;
  const source = await openShare(tcp, record.source, { deps, signal });
  await source.open.use(async (session) => session.revoke?.(source.tenancy));
  if (!(await removeJob({ tcp, deps, signal })))
    return waiting(record, 'the Job of the migration is being removed', lookMs);
  const done = { ...inPhase(record, 'Succeeded', ctx.now), finishedAt: ctx.now.toISOString() };
  const kept = `the copy in DataStore ${record.source.dataStoreName} is kept until the annotation ${annotations.removePreviousData} names it`;
  ctx.event('Normal', 'MigrationSucceeded', `the data moved ${way(record)}: ${pauseText(record)}; ${kept}`);
  ctx.log.info('the data of a tenant moved', { ...migrationNumbers(record) });
  return { record: { ...done, message: pauseText(record) }, leftBehind: leftBehind(record, ctx.now) };
}

function migrationNumbers({ source, target, keys, bytes, pauseMs, rolloutMs }: MigrationStatus): object {
  return { source: source.dataStoreName, target: target.dataStoreName, keys, bytes, pauseMs, rolloutMs };
}

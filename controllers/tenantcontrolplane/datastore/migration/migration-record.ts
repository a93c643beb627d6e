import { annotations } from '../../../../api/names.ts';
import type {
  MigrationPhase,
  MigrationStatus,
  PreviousShare,
} from '../../../../api/steward/v1alpha1/migration-status.ts';
import { requestedDataStore } from '../../../../api/steward/v1alpha1/requested-data-store.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { drainRecord } from '../drain/drain-record.ts';
import { without } from '../../shared/without.ts';
import { versionFacts } from '../../upgrade/version-facts.ts';
import { versionWithoutPolicies } from './read-only-policy.ts';

/** The annotations that influence a migration: another value means another attempt. */
const attemptAnnotations = [
  annotations.cleanupPriorMigration,
  annotations.migrationTimeout,
  annotations.migrationMinimumHold,
  annotations.removePreviousData,
  annotations.retryMigration,
] as const;

/** A summary of what the user has requested: a failed migration is retried only when it has changed. */
export function attemptOf(tcp: TenantControlPlane): string {
  const { metadata } = tcp;
  const requested = attemptAnnotations.map((name) => metadata.annotations?.[name] ?? '');
  const record = drainRecord(tcp);
  const chosen = record?.dataStoreName === undefined ? undefined : record.time;
  return [metadata.generation, ...requested, ...(chosen === undefined ? [] : [chosen])].join('|');
}

/**
 * The DataStore that the data is to be migrated to: the requested one, if it differs from the recorded one. Undefined when the
 * data is to stay, and during a migration.
 */
export function wantedStore(tcp: TenantControlPlane): string | undefined {
  const storage = tcp.status?.storage;
  const [requested, present] = [requestedDataStore(tcp), storage?.dataStoreName];
  if (isUnderWay(storage?.migration) || storage?.setup?.schema === undefined) return undefined;
  return requested === '' || present === undefined || requested === present ? undefined : requested;
}

/** The record of a migration that starts now; undefined when none is wanted, or when this very attempt has failed before. */
export function beginMigration(tcp: TenantControlPlane, now: Date): MigrationStatus | undefined {
  const target = wantedStore(tcp);
  const storage = tcp.status?.storage;
  const last = storage?.migration;
  const attempt = attemptOf(tcp);
  if (target === undefined || storage?.setup === undefined) return undefined;
  if (last?.phase === 'Failed' && last.target.dataStoreName === target && last.attempt === attempt) return undefined;
  const { schema, user } = storage.setup;
  const { driver, dataStoreName = '' } = storage;
  return {
    phase: 'Preparing',
    source: { dataStoreName, driver, schema, user },
    target: { dataStoreName: target },
    attempt,
    ...(versionWithoutPolicies(versionFacts({ tcp })) !== undefined && { stopsServers: true }),
    startedAt: now.toISOString(),
    stepSince: now.toISOString(),
  };
}

/** The record in another phase, which starts at `now`; the previous message is dropped. */
export function inPhase(
  record: MigrationStatus,
  phase: MigrationPhase,
  now: Date,
  changes: Partial<MigrationStatus> = {},
): MigrationStatus {
  const stepSince = record.phase === phase && record.stepSince !== undefined ? record.stepSince : now.toISOString();
  return { ...without(record, 'message'), stepSince, ...changes, phase };
}

/** The record of a migration that must be rolled back. */
export function undoing(
  record: MigrationStatus,
  now: Date,
  end: { readonly ending: 'Failed' | 'Cancelled'; readonly message: string },
): MigrationStatus {
  return { ...inPhase(record, 'RollingBack', now), ...end };
}

/** True while every API server denies writes, and from the request to stop them until they serve again. */
export function isFrozen(record: MigrationStatus | undefined): boolean {
  return isUnderWay(record) && (record.writesStoppedAt ?? record.stoppedAt) !== undefined;
}

/**
 * The record once writes are allowed again, or the API servers serve again; the time until then is added up. It counts from the
 * request to stop them, although they serve for a few seconds more.
 */
export function thawed(record: MigrationStatus, now: Date): MigrationStatus {
  const { pauseMs = 0 } = record;
  const since = record.stoppedAt ?? record.writesStoppedAt;
  const rest = without(record, 'writesStoppedAt', 'stoppedAt', 'policyInTenant', 'replicas');
  return since === undefined ? rest : { ...rest, pauseMs: pauseMs + msBetween(since, now.toISOString()) };
}

/** Milliseconds between two moments; none if the clock was set back in between. */
export function msBetween(since: string, until: string): number {
  return Math.max(Date.parse(until) - Date.parse(since), 0);
}

/** Milliseconds since the current phase started. */
export function lastsMs({ stepSince, startedAt }: MigrationStatus, now: Date): number {
  return now.getTime() - Date.parse(stepSince ?? startedAt);
}

/** The copy that a migration leaves in its source. */
export function leftBehind({ source }: MigrationStatus, now: Date): PreviousShare {
  return { ...source, since: now.toISOString() };
}

/** Where the data is after a migration has ended; undefined while it is under way. */
export function shareAtEnd({ phase, source, target }: MigrationStatus):
  | {
      readonly dataStoreName: string;
      readonly driver?: string;
      readonly setup: { readonly schema?: string; readonly user?: string };
    }
  | undefined {
  if (phase !== 'Succeeded' && phase !== 'Failed' && phase !== 'Cancelled') return undefined;
  const { dataStoreName, driver, schema, user } = phase === 'Succeeded' ? target : source;
  return {
    dataStoreName,
    ...(driver !== undefined && { driver }),
    setup: { ...(schema !== undefined && { schema }), ...(user !== undefined && { user }) },
  };
}

/** Source and target of a migration, for messages. */
export function way({ source, target }: MigrationStatus): string {
  return `from DataStore ${source.dataStoreName} to ${target.dataStoreName}`;
}

/** The progress of a migration, for messages; empty while nothing is known. */
export function howFar({ keys, bytes, rate, remaining }: MigrationStatus): string {
  if (keys === undefined) return '';
  const left = remaining === undefined ? '' : `, ${remaining} left`;
  const pace = rate === undefined || rate === 0 ? '' : `, ${rate} keys/s`;
  return `${keys} keys (${((bytes ?? 0) / 1024 / 1024).toFixed(1)} MiB) copied${left}${pace}`;
}

/** How long writes were denied or the API servers were stopped, for messages. */
export function pauseText({ pauseMs, rolloutMs, stopsServers }: MigrationStatus): string {
  if (stopsServers === true) {
    if (pauseMs === undefined) return 'the API servers were never stopped';
    const start = rolloutMs === undefined ? '' : `, ${seconds(rolloutMs)} s of it for the start on the target`;
    return `the API servers were stopped for ${seconds(pauseMs)} s${start}`;
  }
  if (pauseMs === undefined) return 'writes were never denied';
  const outside = Math.max(pauseMs - (rolloutMs ?? 0), 0);
  return `writes were denied for ${seconds(pauseMs)} s, ${seconds(outside)} s of it outside the rollout`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** What to do about a failed migration; one that a drain began is tried again by itself. */
export function failedRemedy(tcp: TenantControlPlane): string {
  const record = drainRecord(tcp);
  const isDrained = record?.dataStoreName !== undefined || record?.retryTime !== undefined;
  return isDrained ? drainRemedy : ownRemedy;
}

const drainRemedy =
  'the tenant still runs on the old DataStore, which is being drained; Steward tries again by itself, perhaps with another DataStore';
const ownRemedy =
  'the tenant still runs on the old DataStore; fix the cause and set the annotation steward.butlerlabs.dev/retry-migration to another value, or set spec.dataStore back';

import { annotations } from '../../../../api/names.ts';
import type {
  MigrationPhase,
  MigrationStatus,
  PreviousShare,
} from '../../../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { without } from '../../shared/without.ts';

/** The annotations that influence a migration: another value means another attempt. */
const attemptAnnotations = [
  annotations.cleanupPriorMigration,
  annotations.migrationTimeout,
  annotations.migrationMinimumHold,
  annotations.removePreviousData,
  annotations.retryMigration,
] as const;

/** A summary of what the user has requested: a failed migration is retried only when it has changed. */
export function attemptOf({ metadata }: TenantControlPlane): string {
  const requested = attemptAnnotations.map((name) => metadata.annotations?.[name] ?? '');
  return [metadata.generation, ...requested].join('|');
}

/**
 * The DataStore that the data is to be migrated to: the one in the spec, if it differs from the recorded one. Undefined when the
 * data is to stay, and during a migration.
 */
export function wantedStore({ spec, status }: TenantControlPlane): string | undefined {
  const storage = status?.storage;
  const [requested, present] = [spec.dataStore ?? '', storage?.dataStoreName];
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

/** True while every API server denies writes. */
export function isFrozen(record: MigrationStatus | undefined): boolean {
  return isUnderWay(record) && record.frozenAt !== undefined;
}

/** The record once writes are allowed again; the time during which they were denied is added up. */
export function thawed(record: MigrationStatus, now: Date): MigrationStatus {
  const { frozenAt, pauseMs = 0 } = record;
  const rest = without(record, 'frozenAt', 'policyInTenant');
  return frozenAt === undefined ? rest : { ...rest, pauseMs: pauseMs + now.getTime() - Date.parse(frozenAt) };
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

/** How long writes were denied, for messages. */
export function pauseText({ pauseMs, rolloutMs }: MigrationStatus): string {
  if (pauseMs === undefined) return 'writes were never denied';
  const outside = pauseMs - (rolloutMs ?? 0);
  return `writes were denied for ${seconds(pauseMs)} s, ${seconds(outside)} s of it outside the rollout`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** What to do about a failed migration. */
export const failedRemedy =
  'the tenant still runs on the old DataStore; fix the cause and set the annotation steward.butlerlabs.dev/retry-migration to another value, or set spec.dataStore back';

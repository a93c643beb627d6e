import { annotations } from '../../../api/names.ts';
import type { MigrationPhase, MigrationStatus, PreviousShare } from '../../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { without } from './without.ts';

/** The annotations that change how a migration is done: another value is another attempt. */
const attemptAnnotations = [
  annotations.cleanupPriorMigration,
  annotations.migrationTimeout,
  annotations.migrationMinimumHold,
  annotations.removePreviousData,
  annotations.retryMigration,
] as const;

/** What a person has asked for, in short: a migration that failed is tried again only when this has changed. */
export function attemptOf({ metadata }: TenantControlPlane): string {
  const asked = attemptAnnotations.map((name) => metadata.annotations?.[name] ?? '');
  return [metadata.generation ?? 0, ...asked].join('|');
}

/**
 * The DataStore that the data is to move to: the spec names another one than that which it is recorded in. Undefined when it is
 * to stay, and while a migration is under way.
 */
export function wantedStore({ spec, status }: TenantControlPlane): string | undefined {
  const storage = status?.storage;
  const [asked, present] = [spec.dataStore ?? '', storage?.dataStoreName];
  if (isUnderWay(storage?.migration) || storage?.setup?.schema === undefined) return undefined;
  return asked === '' || present === undefined || asked === present ? undefined : asked;
}

/** The record of a migration that begins now; undefined when none is wanted, or when this very attempt has failed before. */
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
    source: {
      dataStoreName,
      ...(driver !== undefined && { driver }),
      ...(schema !== undefined && { schema }),
      ...(user !== undefined && { user }),
    },
    target: { dataStoreName: target },
    attempt,
    startedAt: now.toISOString(),
    stepSince: now.toISOString(),
  };
}

/** The record in another phase, which lasts from `now` on; what was waited for before is forgotten. */
export function inPhase(
  record: MigrationStatus,
  phase: MigrationPhase,
  now: Date,
  changes: Partial<MigrationStatus> = {},
): MigrationStatus {
  const stepSince = record.phase === phase && record.stepSince !== undefined ? record.stepSince : now.toISOString();
  return { ...without(record, 'message'), stepSince, ...changes, phase };
}

/** The record of a migration that is to be undone. */
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

/** The record once writes are allowed again; the time for which they were not is added up. */
export function thawed(record: MigrationStatus, now: Date): MigrationStatus {
  const { frozenAt, pauseMs = 0 } = record;
  const rest = without(record, 'frozenAt', 'policyInTenant');
  return frozenAt === undefined ? rest : { ...rest, pauseMs: pauseMs + now.getTime() - Date.parse(frozenAt) };
}

/** Milliseconds for which the present phase has lasted. */
export function lastsMs({ stepSince, startedAt }: MigrationStatus, now: Date): number {
  return now.getTime() - Date.parse(stepSince ?? startedAt);
}

/** The copy that a migration leaves in its source. */
export function leftBehind({ source }: MigrationStatus, now: Date): PreviousShare {
  return { ...source, since: now.toISOString() };
}

/** Where the data is, as the status records it, once a migration has ended; undefined while it is under way. */
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

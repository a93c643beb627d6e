import type { MigrationStatus, TenancyShare } from './migration-status.ts';
import type { TenantControlPlaneStatus } from './tenant-control-plane-status.ts';

type Storage = TenantControlPlaneStatus['storage'];

/** True while a migration has neither succeeded nor been undone. */
export function isUnderWay(migration: MigrationStatus | undefined): migration is MigrationStatus {
  return migration !== undefined && !['Succeeded', 'Failed', 'Cancelled'].includes(migration.phase);
}

/** True when a migration has made the target the store that the pods use: they were told so, or are about to be. */
export function usesTarget({ phase }: MigrationStatus): boolean {
  return phase === 'Switching' || phase === 'Thawing' || phase === 'Revoking';
}

/**
 * The share of a DataStore that the pods are to use while a migration is under way, whatever the rest of the status still
 * says; undefined when none is.
 */
export function shareInUse(storage: Storage): TenancyShare | undefined {
  const migration = storage?.migration;
  if (!isUnderWay(migration)) return undefined;
  return usesTarget(migration) ? migration.target : migration.source;
}

/** Every share that migrations have made or left: of source and target while one is under way, and the old copies. */
export function migrationShares(storage: Storage): readonly TenancyShare[] {
  const migration = storage?.migration;
  return [...(isUnderWay(migration) ? [migration.source, migration.target] : []), ...(storage?.previous ?? [])];
}

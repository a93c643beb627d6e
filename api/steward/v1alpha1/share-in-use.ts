import type { MigrationStatus, TenancyShare } from './migration-status.ts';
import type { TenantControlPlaneStatus } from './tenant-control-plane-status.ts';

type Storage = TenantControlPlaneStatus['storage'];

/** True until a migration has succeeded or has been undone. */
export function isUnderWay(migration: MigrationStatus | undefined): migration is MigrationStatus {
  return migration !== undefined && !['Succeeded', 'Failed', 'Cancelled'].includes(migration.phase);
}

/** True once pods use the target of a migration, or are about to be switched to it. */
export function usesTarget({ phase }: MigrationStatus): boolean {
  return phase === 'Switching' || phase === 'ResumingWrites' || phase === 'Revoking';
}

/**
 * The tenancy that the pods have to use during a migration, regardless of what the rest of the status still says;
 * undefined outside of a migration.
 */
export function shareInUse(storage: Storage): TenancyShare | undefined {
  const migration = storage?.migration;
  if (!isUnderWay(migration)) return undefined;
  return usesTarget(migration) ? migration.target : migration.source;
}

/**
 * Every tenancy that migrations created or left behind: source and target of a current one, and the previous copies.
 */
export function migrationShares(storage: Storage): readonly TenancyShare[] {
  const migration = storage?.migration;
  return [...(isUnderWay(migration) ? [migration.source, migration.target] : []), ...(storage?.previous ?? [])];
}

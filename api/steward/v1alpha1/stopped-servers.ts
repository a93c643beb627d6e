import type { MigrationStatus } from './migration-status.ts';
import { isUnderWay } from './share-in-use.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';

/** The migration under way that has stopped the API servers, until they serve again. */
function stopping({ status }: TenantControlPlane): MigrationStatus | undefined {
  const migration = status?.storage?.migration;
  return isUnderWay(migration) && migration.stoppedAt !== undefined ? migration : undefined;
}

/** True while the last changes of a tenant are copied whose API servers cannot deny writes: no pod of it may run. */
export function mayNotRun(tcp: TenantControlPlane): boolean {
  const phase = stopping(tcp)?.phase;
  return phase === 'StoppingWrites' || phase === 'Finishing';
}

/** True while no API server is wanted, or none may get requests yet: those on the target do not deny writes. */
export function mayNotServe(tcp: TenantControlPlane): boolean {
  return mayNotRun(tcp) || stopping(tcp)?.phase === 'Switching';
}

/**
 * The DataStore whose API servers are the only ones that may get requests; undefined when all may. Those on the target accept writes as
 * soon as they serve, which would be lost if the migration was rolled back after that: until it cannot be anymore, nobody reaches them.
 */
export function onlyServedFrom(tcp: TenantControlPlane): string | undefined {
  const migration = stopping(tcp);
  if (migration === undefined || migration.phase === 'ResumingWrites' || migration.phase === 'Revoking')
    return undefined;
  return migration.source.dataStoreName;
}

/** How many pods there were before they were stopped; undefined when they were not. */
export function replicasBeforeStop(tcp: TenantControlPlane): number | undefined {
  return stopping(tcp)?.replicas;
}

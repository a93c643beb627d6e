import type { MigrationStatus } from '../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay, usesTarget } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane, TenantControlPlaneStatus } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setConditions } from '../../runtime/conditions.ts';
import { undoing } from './components/migration-record.ts';
import { tenancyOwner } from './components/tenancy.ts';

/** A migration lost its process with the TenantControlPlane before: it is undone, unless the target is in use already. */
function settled(migration: MigrationStatus, now: Date): MigrationStatus {
  if (!isUnderWay(migration) || usesTarget(migration) || migration.phase === 'RollingBack') return migration;
  const message = 'the TenantControlPlane was deleted meanwhile and made anew';
  return undoing(migration, now, { ending: 'Cancelled', message });
}

/** The status of a TenantControlPlane that has taken over what `former` had: where the data is, whose it is, and what workers know. */
export function inheritedStatus(
  tcp: TenantControlPlane,
  former: TenantControlPlane,
  now: Date,
): TenantControlPlaneStatus {
  const recorded = former.status;
  const migration = recorded?.storage?.migration;
  const at = { generation: tcp.metadata.generation ?? 0, now };
  const message = 'the data of the TenantControlPlane before this one was taken over';
  const told = [
    { type: 'StoreReady', status: 'False', reason: 'Inheriting', message },
    { type: 'Ready', status: 'False', reason: 'Provisioning', message },
  ] as const;
  return {
    ...tcp.status,
    ...recorded,
    observedGeneration: at.generation,
    conditions: setConditions(tcp.status?.conditions ?? [], told, at),
    storage: {
      ...recorded?.storage,
      owner: tenancyOwner(former),
      ...(migration !== undefined && { migration: settled(migration, now) }),
    },
  };
}

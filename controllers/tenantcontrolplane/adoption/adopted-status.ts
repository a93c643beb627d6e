import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay, usesTarget } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type {
  TenantControlPlane,
  TenantControlPlaneStatus,
} from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setConditions } from '../../../runtime/reconcile/conditions.ts';
import { undoing } from '../datastore/migration/migration-record.ts';
import { tenancyOwner } from '../datastore/tenancy.ts';

/** A migration lost its process with the previous TenantControlPlane: it is rolled back, unless the target is already in use. */
function settled(migration: MigrationStatus, now: Date): MigrationStatus {
  if (!isUnderWay(migration) || usesTarget(migration) || migration.phase === 'RollingBack') return migration;
  const message = 'the TenantControlPlane was deleted and created again in the meantime';
  return undoing(migration, now, { ending: 'Cancelled', message });
}

/** The status after adopting from `former`: where the data is, who owns it, and what workers know. */
export function adoptedStatus(
  tcp: TenantControlPlane,
  former: TenantControlPlane,
  now: Date,
): TenantControlPlaneStatus {
  const recorded = former.status;
  const migration = recorded?.storage?.migration;
  const at = { generation: tcp.metadata.generation, now };
  const message = 'the data of the previous TenantControlPlane was adopted';
  const told = [
    { type: 'StoreReady', status: 'False', reason: 'AdoptingData', message },
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

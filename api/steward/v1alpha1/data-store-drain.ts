import { core } from '../../core/core-schema.ts';
import type { Infer } from '../../schema.ts';
import { described, int32, list, obj, oneOf, opt, str, time } from '../../schema.ts';

/** A request to migrate the tenants of a DataStore to others. */
export const dataStoreDrain = obj({
  keep: opt(
    described(
      int32({ minimum: 0 }),
      'Number of tenants that stay. With 0, all of them are migrated; with another number, only those above it.',
    ),
    0,
  ),
  targetSelector: opt(
    described(
      core('LabelSelector'),
      'Labels of the DataStores to which tenants are migrated. If unset, they are migrated to any DataStore in which they could be placed.',
    ),
  ),
  previousCopies: opt(
    described(
      oneOf('Retain', 'Remove'),
      'What becomes of the copies of data that migrations leave behind in this DataStore. Retain: they stay until an annotation of the TenantControlPlane requests their removal. Remove: they are removed once the tenant runs on its new DataStore.',
    ),
    'Retain',
  ),
});
export type DataStoreDrain = Infer<typeof dataStoreDrain>;

const tenant = described(str(), 'TenantControlPlane as `namespace/name`.');

/** The progress of a drain. */
export const dataStoreDrainStatus = obj({
  remaining: described(int32(), 'Number of tenants that still run on the DataStore.'),
  copies: described(int32(), 'Number of tenants that were migrated away and whose data is still here as a copy.'),
  migrating: opt(
    described(
      obj({
        tenant,
        dataStoreName: described(str(), 'DataStore to which the data of the tenant is migrated.'),
        phase: described(str(), 'Phase of the migration.'),
      }),
      'Tenant that is being migrated. There is one at a time.',
    ),
  ),
  blocked: opt(
    described(
      list(obj({ tenant, reason: described(str(), 'Why the tenant cannot be migrated, and what to do.') }), {
        maxItems: 10,
      }),
      'Tenants that cannot be migrated for now, at most ten of them.',
    ),
  ),
});
export type DataStoreDrainStatus = Infer<typeof dataStoreDrainStatus>;

/** Where a tenant is migrated, or has been migrated, because its DataStore is drained. */
export const drainedTenant = obj({
  from: described(str(), 'DataStore that is or was drained.'),
  named: described(
    str(),
    'Value of `spec.dataStore` at that time. Steward ignores `spec.dataStore` until its value changes: otherwise Steward would migrate the tenant back.',
  ),
  dataStoreName: opt(
    described(
      str(),
      'DataStore that was chosen instead. Unset while none can take the tenant, and after a failed migration.',
    ),
  ),
  time: opt(described(time(), 'Time of the choice.')),
  failures: opt(described(int32(), 'Number of migrations in a row that have failed.')),
  failedDataStoreName: opt(described(str(), 'Target of the last migration that failed.')),
  retryTime: opt(described(time(), 'Time of the next attempt.')),
  message: opt(described(str(), 'Why the tenant cannot be migrated for now, and what to do.')),
});
export type DrainedTenant = Infer<typeof drainedTenant>;

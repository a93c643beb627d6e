import type { Infer } from '../../schema.ts';
import { bool, described, int32, int64, list, obj, oneOf, opt, str, time } from '../../schema.ts';

/** A tenancy in a DataStore. */
const share = {
  dataStoreName: described(str(), 'Name of the DataStore that has the tenancy.'),
  driver: opt(described(str(), 'Driver of the DataStore.')),
  schema: opt(described(str(), 'Prefix, schema or bucket of the tenant in the datastore.')),
  user: opt(described(str(), 'User of the tenant in the datastore.')),
} as const;

const tenancyShare = obj(share);
export type TenancyShare = Infer<typeof tenancyShare>;

const phase = oneOf(
  'Preparing',
  'Copying',
  'Following',
  'StoppingWrites',
  'Finishing',
  'Switching',
  'ResumingWrites',
  'Revoking',
  'RollingBack',
  'Succeeded',
  'Failed',
  'Cancelled',
);
/** Phase of a migration. */
export type MigrationPhase = Infer<typeof phase>;

/** The current or last migration of a tenant to another DataStore. */
export const migrationStatus = obj({
  phase: described(phase, 'Phase of the migration. Succeeded, Failed and Cancelled are final.'),
  source: described(tenancyShare, 'Tenancy from which the data is migrated.'),
  target: described(tenancyShare, 'Tenancy to which the data is migrated.'),
  attempt: opt(
    described(
      str(),
      'Identifies what was requested when the migration started. A failed migration is retried only after this has changed.',
    ),
  ),
  startedAt: described(time(), 'Time at which the migration started.'),
  finishedAt: opt(described(time(), 'Time at which the migration ended. Unset while it runs.')),
  stopsServers: opt(
    described(
      bool(),
      'Whether the API servers are stopped for the last part, because their version of Kubernetes cannot deny writes.',
    ),
  ),
  policyInTenant: opt(described(bool(), 'Whether the policy that denies writes may exist in the tenant.')),
  stepSince: opt(described(time(), 'Time at which the current phase started.')),
  stoppedAt: opt(described(time(), 'Time at which Steward began to stop the API servers. Unset while they serve.')),
  replicas: opt(described(int32(), 'Number of pods before the API servers were stopped.')),
  writesStoppedAt: opt(
    described(time(), 'Time from which every API server denies writes, or none runs. Unset while writes are allowed.'),
  ),
  switchedAt: opt(described(time(), 'Time at which the pods were switched to the target.')),
  rolledOutAt: opt(described(time(), 'Time from which only pods that use the target serve.')),
  keys: opt(described(int64(), 'Number of keys in the target.')),
  bytes: opt(described(int64(), 'Bytes of values written to the target.')),
  rate: opt(described(int64(), 'Recent copy rate, in keys per second.')),
  remaining: opt(described(int64(), 'Number of keys left to copy, if known.')),
  pauseMs: opt(
    described(int64(), 'Time for which writes were denied, or the API servers were stopped, in milliseconds.'),
  ),
  rolloutMs: opt(
    described(int64(), 'Part of `pauseMs` during which pods were replaced or started on the target, in milliseconds.'),
  ),
  ending: opt(described(oneOf('Failed', 'Cancelled'), 'Final phase once the previous state is restored.')),
  message: opt(described(str(), 'What the migration is waiting for, or why it ended.')),
});
export type MigrationStatus = Infer<typeof migrationStatus>;

const previousShare = obj({ ...share, since: described(time(), 'Time from which the copy is no longer written to.') });
/** A copy of the data that an earlier migration left behind. */
export type PreviousShare = Infer<typeof previousShare>;

export const previousShares = list(previousShare);

import type { Infer } from '../../schema.ts';
import { bool, described, int64, list, obj, oneOf, opt, str, time } from '../../schema.ts';

/** A tenant's share of a DataStore. */
const share = {
  dataStoreName: str(),
  driver: opt(str()),
  schema: opt(str()),
  user: opt(str()),
} as const;

const tenancyShare = obj(share);
export type TenancyShare = Infer<typeof tenancyShare>;

const phase = oneOf(
  'Preparing',
  'Copying',
  'Following',
  'Freezing',
  'Finishing',
  'Switching',
  'Thawing',
  'Revoking',
  'RollingBack',
  'Succeeded',
  'Failed',
  'Cancelled',
);
/** Where a migration stands. */
export type MigrationPhase = Infer<typeof phase>;

/** The way of a tenant's data from one DataStore to another: the one under way, or the last one. */
export const migrationStatus = obj({
  phase: described(phase, 'Where the migration stands; Succeeded, Failed and Cancelled are its ends.'),
  source: described(tenancyShare, 'Where the data comes from.'),
  target: described(tenancyShare, 'Where the data goes.'),
  attempt: opt(described(str(), 'What was asked for when it began: another try needs a change of it.')),
  startedAt: time(),
  finishedAt: opt(time()),
  policyInTenant: opt(described(bool(), 'The policy that denies writes may be in the tenant.')),
  stepSince: opt(described(time(), 'Since when the present phase lasts.')),
  frozenAt: opt(described(time(), 'Since when every API server denies writes; absent when they are allowed.')),
  switchedAt: opt(described(time(), 'When the pods were told of the target.')),
  rolledOutAt: opt(described(time(), 'Since when only pods on the target have served.')),
  keys: opt(described(int64(), 'Keys that the target has.')),
  bytes: opt(described(int64(), 'Bytes of values written to the target.')),
  rate: opt(described(int64(), 'Keys copied per second, lately.')),
  remaining: opt(described(int64(), 'Keys left to copy, as far as that is known.')),
  pauseMs: opt(described(int64(), 'How long writes were denied, in milliseconds.')),
  rolloutMs: opt(described(int64(), 'The part of the pause in which pods were replaced, in milliseconds.')),
  ending: opt(described(oneOf('Failed', 'Cancelled'), 'How it ends once everything is as it was before.')),
  message: opt(described(str(), 'What is waited for, or why it ended.')),
});
export type MigrationStatus = Infer<typeof migrationStatus>;

const previousShare = obj({ ...share, since: described(time(), 'Since when nobody writes it any more.') });
/** A copy of the data that an earlier migration has left. */
export type PreviousShare = Infer<typeof previousShare>;

export const previousShares = list(previousShare);

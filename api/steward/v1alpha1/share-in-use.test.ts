import { expect, test } from '@jest/globals';
import type { MigrationPhase } from './migration-status.ts';
import { migrationShares, shareInUse } from './share-in-use.ts';

const source = { dataStoreName: 'old' };
const target = { dataStoreName: 'new' };
const previous = { dataStoreName: 'older', since: '2026-01-01T00:00:00Z' };
const storage = (phase: MigrationPhase) => ({
  migration: { phase, source, target, startedAt: '2026-01-02T00:00:00Z' },
  previous: [previous],
});

test.each<[MigrationPhase, object]>([
  ['Copying', source],
  ['Finishing', source],
  ['Switching', target],
  ['Revoking', target],
  ['RollingBack', source],
])('during the phase %s of a migration the pods use %j', (phase, used) => {
  expect(shareInUse(storage(phase))).toEqual(used);
  expect(migrationShares(storage(phase))).toEqual([source, target, previous]);
});

test.each<MigrationPhase>(['Succeeded', 'Failed', 'Cancelled'])(
  'a migration that is %s no longer decides what the pods use, and leaves only previous copies',
  (phase) => {
    expect(shareInUse(storage(phase))).toBeUndefined();
    expect(migrationShares(storage(phase))).toEqual([previous]);
  },
);

test('a tenant that never migrated has no tenancy of a migration', () => {
  expect(shareInUse({})).toBeUndefined();
  expect(migrationShares(undefined)).toEqual([]);
});

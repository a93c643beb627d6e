import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Condition } from '../../../../api/meta.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';
import { mayTakeMore } from './frees-room.ts';
import { refusals } from './refusals.ts';

const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  ...{ type, status, reason, message: '' },
  ...{ observedGeneration: 1, lastTransitionTime: '2030-01-01T00:00:00Z' },
});

const store = (...reserve: readonly Condition[]): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: storedMeta({ name: 'a', generation: 1 }),
  spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
  status: { conditions: [condition('Ready', 'True', 'Ready'), verifiedIsolation, ...reserve] },
});

const constraints = { selector: undefined, tolerations: [], origin: { namespace: 'blue', labels: {} } };

const full = store(condition('SpaceReserved', 'False', 'LiveDataTooLarge'));

test('a DataStore that is nearly full of live data accepts no tenant', () => {
  expect(refusals({ store: full, tenants: 0 }, constraints)).toEqual([
    'has no space in reserve, because its live data nearly uses up its quota',
  ]);
});

test.each([
  ['nothing is known of its space', store()],
  ['it has room', store(condition('SpaceReserved', 'True', 'SpaceReserved'))],
  ['history is compacted early', store(condition('SpaceReserved', 'True', 'CompactedEarly'))],
  ['a look at it has failed', store(condition('SpaceReserved', 'False', 'Failed'))],
])('a DataStore accepts tenants if %s', (_, candidate) => {
  expect(refusals({ store: candidate, tenants: 0 }, constraints)).toEqual([]);
});

test('a DataStore that has room again accepts the tenants that wait', () => {
  expect(mayTakeMore(full, store(condition('SpaceReserved', 'True', 'SpaceReserved')))).toBe(true);
  expect(mayTakeMore(full, full)).toBe(false);
});

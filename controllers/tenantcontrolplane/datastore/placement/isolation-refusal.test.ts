import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Condition } from '../../../../api/meta.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';
import { isolationRefusal } from './isolation-refusal.ts';

function storeWith(condition: Partial<Condition> | undefined, spec: Partial<DataStore['spec']> = {}): DataStore {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'default', generation: 2 }),
    spec: { driver: 'etcd', endpoints: ['etcd:2379'], ...spec },
    ...(condition !== undefined && { status: { conditions: [{ ...verifiedIsolation, ...condition }] } }),
  };
}

test('a verified DataStore accepts new tenants', () => {
  expect(isolationRefusal(storeWith({}))).toBeUndefined();
});

test.each([
  ['no verdict', undefined],
  ['a verdict about an older spec', { observedGeneration: 1 }],
  ['a verification that is due', { status: 'Unknown', reason: 'Pending' }],
])('with %s it accepts none yet', (_, condition) => {
  expect(isolationRefusal(storeWith(condition as Partial<Condition>))).toBe(
    'has not been verified to isolate tenants since it was created or changed',
  );
});

test.each([
  ['False', 'Breached'],
  ['Unknown', 'Inconclusive'],
])(
  'after a breach, with %s and reason %s, it accepts none, and does not disclose the breach to tenants',
  (status, reason) => {
    const message = 'version 3.6.13 did not refuse attempt 31 of a canary tenant: watch all keys';
    const store = storeWith({ status, reason, message } as Partial<Condition>);
    const isolation = { time: '2026-01-01T00:00:00Z', serverVersion: '3.6.13', attempts: 31, breach: 'watch all keys' };
    expect(isolationRefusal({ ...store, status: { ...store.status, isolation } })).toBe(
      `is not verified to isolate tenants (${reason})`,
    );
  },
);

test('a DataStore whose verification fails for reasons other than a breach accepts tenants', () => {
  expect(isolationRefusal(storeWith({ status: 'Unknown', reason: 'Inconclusive' }))).toBeUndefined();
});

test('a DataStore with a single login accepts its one tenant', () => {
  expect(isolationRefusal(storeWith({ status: 'False', reason: 'SharedCredentials' }))).toBeUndefined();
});

test('with spec.isolationPolicy Report tenants are accepted whatever the verdict is', () => {
  for (const condition of [undefined, { status: 'False', reason: 'Breached' } as const])
    expect(isolationRefusal(storeWith(condition, { isolationPolicy: 'Report' }))).toBeUndefined();
  expect(isolationRefusal(storeWith(undefined, { isolationPolicy: 'Enforce' }))).toBeDefined();
});

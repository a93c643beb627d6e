import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { validateDrain } from './validate-drain.ts';

const store = (operator: string, values?: readonly string[]): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: storedMeta({ name: 'full' }),
  spec: {
    driver: 'etcd',
    endpoints: ['etcd:2379'],
    drain: {
      keep: 0,
      previousCopies: 'Retain',
      targetSelector: { matchExpressions: [{ key: 'tier', operator, ...(values !== undefined && { values }) }] },
    },
  },
});

test('a selector of targets is refused when it could select nothing', () => {
  expect(validateDrain(store('In', ['gold']))).toEqual([]);
  expect(validateDrain(store('In'))).toMatchObject([
    { field: 'spec.drain.targetSelector.matchExpressions[0]', value: 'tier' },
  ]);
  expect(validateDrain(store('Exists', ['gold']))).toHaveLength(1);
});

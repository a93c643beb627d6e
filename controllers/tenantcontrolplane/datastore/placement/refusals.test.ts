import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { refusals } from './refusals.ts';

const store = (status?: DataStore['status']): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: storedMeta({ name: 'new', generation: 1 }),
  spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
  status,
});

test.each([
  ['no status', undefined],
  ['no conditions', {}],
])('a DataStore that has %s yet accepts no tenants', (_, status) => {
  const constraints = { selector: undefined, tolerations: [], origin: { namespace: 'blue', labels: {} } };
  expect(refusals({ store: store(status), tenants: 0 }, constraints)).toEqual([
    'has not been checked since it was created or changed',
  ]);
});

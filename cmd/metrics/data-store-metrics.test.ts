import { expect, test } from '@jest/globals';

import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreMetrics } from './data-store-metrics.ts';

function seriesOf(store: DataStore): readonly string[] {
  return dataStoreMetrics.flatMap(({ name, labels: declared, samples }) =>
    samples(store).map(({ value, labels = {} }) => {
      expect(Object.keys(labels).toSorted()).toEqual([...declared].toSorted());
      const text = Object.entries(labels).map(([label, of]) => `${label}="${of}"`);
      return `${name.replace('steward_datastore_', '')}{${text.join(',')}} ${value}`;
    }),
  );
}

const store = (status: DataStore['status']): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: { name: 'default', uid: 'x', resourceVersion: '1', generation: 1 },
  spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
  status,
});

test('a DataStore has its version, conditions, tenants, room, size and how far its drain is', () => {
  const time = '2030-01-01T00:00:00Z';
  const condition = (type: string, status: 'True' | 'False') => {
    return { type, status, reason: 'Because', message: '', lastTransitionTime: time };
  };
  const series = seriesOf(
    store({
      serverVersion: '3.6.16',
      conditions: [condition('Ready', 'True'), condition('Drained', 'False'), condition('DefinitionOutdated', 'True')],
      ...{ tenants: 3, availableTenants: 0, sizeBytes: 4096 },
      drain: { remaining: 2, copies: 1 },
    }),
  );
  expect(series).toEqual([
    'info{driver="etcd",version="3.6.16"} 1',
    'condition{type="Ready"} 1',
    'condition{type="Drained"} 0',
    'tenants{} 3',
    'available_tenants{} 0',
    'size_bytes{} 4096',
    'drain_remaining_tenants{} 2',
  ]);
});

test('a DataStore that was never reached has only its driver', () => {
  expect(seriesOf(store(undefined))).toEqual(['info{driver="etcd",version=""} 1']);
});

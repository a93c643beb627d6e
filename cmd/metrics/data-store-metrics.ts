import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { conditionSamples } from '../../runtime/observe/condition-samples.ts';
import type { ObjectMetric } from '../../runtime/observe/object-metrics.ts';
import { sample } from './sample.ts';

const types = [
  ...['Ready', 'Reachable', 'Authorized', 'VersionSupported', 'IsolationVerified', 'Drained'],
  ...['SpaceReserved', 'Defragmented'],
];

/** What is measured of a DataStore. */
export const dataStoreMetrics: readonly ObjectMetric<DataStore>[] = [
  {
    name: 'steward_datastore_info',
    help: 'Always 1; driver, and the version that the servers report, empty before they were reached',
    labels: ['driver', 'version'],
    samples: ({ spec, status }) => sample(1, { driver: spec.driver, version: status?.serverVersion ?? '' }),
  },
  {
    name: 'steward_datastore_condition',
    help: `1 for True, 0 for False, -1 for Unknown; of the conditions ${types.join(', ')}`,
    labels: ['type'],
    samples: ({ status }) => conditionSamples(status?.conditions, types),
  },
  {
    name: 'steward_datastore_isolation_breached',
    help: '1 if the last verification found that the DataStore lets a tenant out of its tenancy, otherwise 0; absent before the first',
    labels: [],
    samples: ({ status }) => sample(status?.isolation && Number(status.isolation.breach !== undefined)),
  },
  {
    name: 'steward_datastore_isolation_attempts',
    help: 'Attempts of the last verification that the DataStore isolates tenants',
    labels: [],
    samples: ({ status }) => sample(status?.isolation?.attempts),
  },
  {
    name: 'steward_datastore_isolation_verified_timestamp_seconds',
    help: 'Time of the last verification that the DataStore isolates tenants',
    labels: [],
    samples: ({ status }) => sample(status?.isolation && Date.parse(status.isolation.time) / 1000),
  },
  {
    name: 'steward_datastore_tenants',
    help: 'TenantControlPlanes whose data is in the DataStore or is about to be',
    labels: [],
    samples: ({ status }) => sample(status?.tenants),
  },
  {
    name: 'steward_datastore_available_tenants',
    help: 'Tenants that can still be placed in the DataStore; absent without a capacity',
    labels: [],
    samples: ({ status }) => sample(status?.availableTenants),
  },
  {
    name: 'steward_datastore_size_bytes',
    help: 'Bytes stored, if the servers report it',
    labels: [],
    samples: ({ status }) => sample(status?.sizeBytes),
  },
  {
    name: 'steward_datastore_compacted_timestamp_seconds',
    help: 'Time of the last early compaction of history; absent before the first',
    labels: [],
    samples: ({ status }) => sample(status?.etcd?.compacted && Date.parse(status.etcd.compacted.time) / 1000),
  },
  {
    name: 'steward_datastore_drain_remaining_tenants',
    help: 'Tenants that still run on a DataStore that is being drained; absent otherwise',
    labels: [],
    samples: ({ status }) => sample(status?.drain?.remaining),
  },
];

import { expect, test } from '@jest/globals';

import { ownerReferenceOf } from '../../api/meta.ts';
import { annotations, labels } from '../../api/names.ts';
import { Metrics } from '../../runtime/observe/metrics.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { measureObjects } from './measure-objects.ts';

const shop = tenantControlPlaneWith({ metadata: { name: 'shop', namespace: 'team' } });

test('series of objects carry their namespace and name, and those of the manager do not', async () => {
  const metrics = new Metrics({ process: false });
  metrics.ofController('tenant');
  measureObjects(metrics, {
    now: () => new Date(0),
    tenants: () => [shop],
    secrets: () => [
      {
        metadata: {
          ...{ name: 'shop-ca', namespace: 'team', uid: 'y', resourceVersion: '1' },
          labels: { [labels.name]: 'shop' },
          annotations: { [annotations.certificateExpiry]: '2030-01-01T00:00:00.000Z' },
          ownerReferences: [ownerReferenceOf(shop)],
        },
      },
    ],
    dataStores: () => [
      {
        apiVersion: 'steward.butlerlabs.dev/v1alpha1',
        kind: 'DataStore',
        metadata: { name: 'default', uid: 'x', resourceVersion: '1', generation: 1 },
        spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
      },
    ],
    ...{ policies: () => [], pools: () => [], claims: () => [] },
    defaultDataStore: '',
    probes: (uid) =>
      new Map(uid === '0dd5c1a0-4b0c-4b0e-9d55-6b8d6b3f9c11' ? [['service', { isUp: true, seconds: 0.02 }]] : []),
    dataWrites: () => undefined,
    dataSize: (uid) =>
      uid === '0dd5c1a0-4b0c-4b0e-9d55-6b8d6b3f9c11' ? { bytes: 4096, content: { keys: 3, bytes: 1024 } } : undefined,
  });
  const text = await metrics.registry.metrics();
  expect(text).toContain('steward_tenant_info{namespace="team",name="shop",version="",datastore="default"} 1');
  expect(text).toContain('steward_tenant_data_size_bytes{namespace="team",name="shop"} 4096');
  expect(text).toContain('steward_tenant_data_keys{namespace="team",name="shop"} 3');
  const expiry =
    'steward_certificate_expiry_timestamp_seconds{namespace="team",name="shop",secret="shop-ca"} 1893456000';
  expect(text).toContain(expiry);
  expect(text).toContain('steward_datastore_info{name="default",driver="etcd",version=""} 1');
  expect(text).toContain('controller_runtime_active_workers{controller="tenant"} 0');
});

test('Secrets that only look like those of a control plane are no series, however many there are', async () => {
  const metrics = new Metrics({ process: false });
  const secret = (name: string, owner: object) => ({
    metadata: {
      ...{ name, namespace: 'team', uid: name, resourceVersion: '1' },
      labels: { [labels.name]: 'shop' },
      annotations: { [annotations.certificateExpiry]: '2001-01-01T00:00:00.000Z' },
      ...owner,
    },
  });
  const owned = { ownerReferences: [ownerReferenceOf(shop)] };
  const gone = { ownerReferences: [{ ...ownerReferenceOf(shop), uid: 'of-another' }] };
  const many = Array.from({ length: 100 }, (_, at) => secret(`many-${at}`, owned));
  measureObjects(metrics, {
    now: () => new Date(0),
    tenants: () => [shop],
    secrets: () => [secret('planted', {}), secret('stale', gone), ...many],
    dataStores: () => [],
    ...{ policies: () => [], pools: () => [], claims: () => [] },
    defaultDataStore: '',
    probes: () => new Map(),
    dataSize: () => undefined,
    dataWrites: () => undefined,
  });
  const text = await metrics.registry.metrics();
  expect(text).not.toMatch(/secret="(planted|stale)"/);
  expect(text.match(/^steward_certificate_expiry_timestamp_seconds\{/gm)).toHaveLength(32);
});

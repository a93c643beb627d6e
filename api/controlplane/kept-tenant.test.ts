import { expect, test } from '@jest/globals';
import { keptTenant } from './kept-tenant.ts';
import type { StewardControlPlane } from './steward-control-plane.ts';
import { UnreadableRecord } from './unreadable-record.ts';

const spec = { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } };

function retaining(record: object): StewardControlPlane {
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { namespace: 'team', name: 'prod', uid: 'own' },
    spec: {
      version: 'v1.36.3',
      replicas: 2,
      registry: 'registry.k8s.io',
      kubelet: { cgroupfs: 'systemd', preferredAddressTypes: ['InternalIP'] },
      network: { serviceType: 'LoadBalancer' },
    },
    status: {
      externalManagedControlPlane: true,
      keptTenancy: { formerUID: 'former', record: JSON.stringify(record) },
    },
  };
}

test('the retained tenant has the name of its control plane, its own former UID and what was recorded', () => {
  const status = { storage: { dataStoreName: 'eu' } };
  expect(keptTenant(retaining({ spec, status }))).toEqual({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { namespace: 'team', name: 'prod', uid: 'former' },
    spec,
    status,
  });
});

test('a retained tenant of which no status was recorded has none', () => {
  expect(keptTenant(retaining({ spec }))).not.toHaveProperty('status');
});

test('a record without a spec cannot be read', () => {
  expect(keptTenant(retaining({}))).toBeInstanceOf(UnreadableRecord);
});

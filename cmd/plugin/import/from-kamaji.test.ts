import { describe, expect, test } from '@jest/globals';
import { kamajiControlPlane, kamajiStore } from '../../../testing/builders/kamaji-control-plane.ts';
import { controlPlaneFromKamaji, dataStoreFromKamaji, statusFromKamaji } from './from-kamaji.ts';
import type { KamajiControlPlane, KamajiDataStore } from './kamaji-kinds.ts';

const stored = (changes: Parameters<typeof kamajiControlPlane>[0] = {}): KamajiControlPlane => {
  const made = kamajiControlPlane(changes);
  return { ...made, metadata: { ...made.metadata, uid: 'of-kamaji' } } as unknown as KamajiControlPlane;
};

describe('A TenantControlPlane made from one of Kamaji', () => {
  test('has its name, spec and annotations, is held, and leaves the names of the data to the status', () => {
    const { metadata, spec } = controlPlaneFromKamaji(stored(), 'fast');
    expect(metadata).toMatchObject({
      ...{ namespace: 'tenants', name: 'shop' },
      annotations: { team: 'blue', 'steward.butlerlabs.dev/paused': 'kubectl-steward-import' },
    });
    expect(JSON.stringify(metadata)).not.toMatch(/kamaji\.clastix|last-applied|finalizer/);
    expect(spec).toMatchObject({ dataStore: 'fast', kubernetes: { version: 'v1.35.4' } });
    expect(JSON.stringify(spec)).not.toContain('tenants_shop');
  });

  test('keeps labels and annotations of Kamaji under the names of Steward', () => {
    const old = stored({
      metadata: {
        labels: { 'kamaji.clastix.io/x': 'y' },
        annotations: { 'kamaji.clastix.io/kubeconfig-secret-key': 'admin.svc', 'kamaji.clastix.io/paused': '' },
      },
    });
    const { metadata } = controlPlaneFromKamaji(old, 'default');
    expect(metadata.labels).toEqual({ 'steward.butlerlabs.dev/x': 'y' });
    expect(metadata.annotations).toEqual({
      'steward.butlerlabs.dev/kubeconfig-secret-key': 'admin.svc',
      'steward.butlerlabs.dev/paused': 'kubectl-steward-import',
    });
  });

  test('records where the data is and whose it is, the CAs, the version and the endpoint', () => {
    expect(statusFromKamaji(stored(), 'fast')).toMatchObject({
      storage: { driver: 'etcd', dataStoreName: 'fast', owner: 'of-kamaji', setup: { schema: 'tenants_shop' } },
      certificates: { ca: { secretName: 'shop-ca' }, frontProxyCA: {}, sa: {} },
      kubernetesResources: { version: { version: 'v1.35.4', status: 'Ready' } },
      controlPlaneEndpoint: '10.96.0.20:6443',
    });
  });

  const nodePort = { deployment: { replicas: 2 }, service: { serviceType: 'NodePort' } };

  test.each([
    ['a NodePort Service without address', { controlPlane: nodePort }, '10.96.0.20'],
    [
      'a NodePort Service with an address',
      { controlPlane: nodePort, networkProfile: { address: '192.0.2.1' } },
      '192.0.2.1',
    ],
    ['a NodePort Service behind an Ingress', { controlPlane: { ...nodePort, ingress: {} } }, undefined],
    ['a ClusterIP Service', {}, undefined],
  ])('with %s is reached at the same endpoint', (_, spec, expected) => {
    const old = stored({ spec: { ...(kamajiControlPlane().spec as object), ...spec } });
    const made = controlPlaneFromKamaji(old, 'default').spec as { networkProfile: { address?: string } };
    expect(made.networkProfile.address).toBe(expected);
  });
});

test('a DataStore keeps name, servers and references to its Secrets', () => {
  const made = kamajiStore();
  const store = dataStoreFromKamaji({ ...made, metadata: { ...made.metadata } } as unknown as KamajiDataStore);
  expect(store).toMatchObject({ apiVersion: 'steward.butlerlabs.dev/v1alpha1', metadata: { name: 'default' } });
  expect(store.spec).toEqual(made.spec);
  expect(store.metadata.finalizers).toBeUndefined();
});

import type { Manifest } from '../../api/meta.ts';

const group = 'kamaji.clastix.io';
const apiVersion = `${group}/v1alpha1`;

/** The DataStore `default` of Kamaji. */
export const kamajiStore = (): Manifest => ({
  apiVersion,
  kind: 'DataStore',
  metadata: { name: 'default', finalizers: [`${group}/TenantControlPlane`] },
  spec: {
    driver: 'etcd',
    endpoints: ['etcd-0:2379', 'etcd-1:2379'],
    tlsConfig: {
      certificateAuthority: {
        certificate: { secretReference: { name: 'etcd', namespace: 'kamaji-system', keyPath: 'ca.crt' } },
        privateKey: { secretReference: { name: 'etcd', namespace: 'kamaji-system', keyPath: 'ca.key' } },
      },
      clientCertificate: {
        certificate: { secretReference: { name: 'root', namespace: 'kamaji-system', keyPath: 'tls.crt' } },
        privateKey: { secretReference: { name: 'root', namespace: 'kamaji-system', keyPath: 'tls.key' } },
      },
    },
  },
});

interface Given {
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A TenantControlPlane `tenants/shop` as Kamaji leaves it when it is Ready. */
export function kamajiControlPlane({ name = 'shop', metadata, spec, status }: Given = {}): Manifest {
  return {
    apiVersion,
    kind: 'TenantControlPlane',
    metadata: {
      name,
      namespace: 'tenants',
      finalizers: [`finalizer.${group}`, `finalizer.${group}/soot`],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', team: 'blue' },
      ...metadata,
    },
    spec: {
      dataStore: 'default',
      dataStoreSchema: 'tenants_shop',
      dataStoreUsername: 'tenants_shop',
      controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: 'v1.35.4', kubelet: {} },
      networkProfile: { port: 6443 },
      ...spec,
    },
    status: {
      controlPlaneEndpoint: '10.96.0.20:6443',
      storage: {
        driver: 'etcd',
        dataStoreName: 'default',
        config: { secretName: `${name}-datastore-config`, checksum: 'c' },
        setup: { schema: 'tenants_shop', user: 'tenants_shop', lastUpdate: '2026-01-01T00:00:00Z', checksum: 's' },
        certificate: { secretName: `${name}-datastore-certificate`, checksum: 'd', lastUpdate: '2026-01-01T00:00:00Z' },
      },
      certificates: {
        ca: { secretName: `${name}-ca`, checksum: '1', lastUpdate: '2026-01-01T00:00:00Z' },
        frontProxyCA: { secretName: `${name}-front-proxy-ca-certificate`, checksum: '2', lastUpdate: null },
        sa: { secretName: `${name}-sa-certificate`, checksum: '3', lastUpdate: null },
        apiServer: { secretName: `${name}-api-server-certificate`, checksum: '4', lastUpdate: null },
      },
      kubernetesResources: { version: { version: 'v1.35.4', status: 'Ready' } },
      addons: { coreDNS: { enabled: true, lastUpdate: null } },
      ...status,
    },
  };
}

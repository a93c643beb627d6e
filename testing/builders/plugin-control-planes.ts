import type { Manifest } from '../../api/meta.ts';
import type { Condition } from '../../api/meta.ts';

/** When everything in a test of the plugin happened. */
export const pluginTime = '2026-11-26T10:00:00Z';

/** A condition that describes generation 1, unless said otherwise. */
export function conditionOf(
  type: string,
  status: Condition['status'],
  reason: string,
  { message = '', generation = 1 }: { readonly message?: string; readonly generation?: number } = {},
): Condition {
  return { type, status, reason, message, observedGeneration: generation, lastTransitionTime: pluginTime };
}

interface Given {
  readonly name?: string;
  readonly namespace?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A TenantControlPlane `tenants/shop` that runs v1.35.4 on the DataStore `default`. */
export function shopTenant({ name = 'shop', namespace = 'tenants', metadata, spec, status }: Given = {}): Manifest {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name, namespace, ...metadata },
    spec: {
      dataStore: 'default',
      controlPlane: { deployment: { replicas: 3 }, service: { serviceType: 'LoadBalancer' } },
      kubernetes: { version: 'v1.35.4' },
      ...spec,
    },
    status: {
      observedGeneration: 1,
      conditions: [conditionOf('Ready', 'True', 'Ready'), conditionOf('TenantConfigured', 'True', 'Succeeded')],
      controlPlaneEndpoint: 'shop.example.com:6443',
      storage: { dataStoreName: 'default', setup: { schema: 'shop', user: 'shop' } },
      kubernetesResources: {
        version: { version: 'v1.35.4', status: 'Ready' },
        deployment: { name, namespace, selector: 'a=b', replicas: 3, readyReplicas: 3 },
      },
      ...status,
    },
  };
}

/** A StewardControlPlane `tenants/shop` of the Cluster `store`. */
export function shopParent({ name = 'shop', namespace = 'tenants', metadata, spec, status }: Given = {}): Manifest {
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { name, namespace, labels: { 'cluster.x-k8s.io/cluster-name': 'store' }, ...metadata },
    spec: { version: 'v1.35.4', replicas: 3, ...spec },
    status: { observedGeneration: 1, ...status },
  };
}

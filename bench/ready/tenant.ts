import type { TenantControlPlaneSpecInput } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { dataStoreName } from '../steward-cluster.ts';

/** apiVersion of TenantControlPlanes. */
export const tenantApiVersion = 'steward.butlerlabs.dev/v1alpha1';

/** Port of every measured control plane. */
export const tenantPort = 6443;

/** Which control plane to make. */
export interface TenantRequest {
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  /** For example `v1.36.3`. */
  readonly version: string;
}

/** The TenantControlPlane that is measured: ClusterIP, both add-ons, everything else defaulted. */
export function tenant({ name, namespace, replicas, version }: TenantRequest): PlainObject {
  const spec: TenantControlPlaneSpecInput = {
    dataStore: dataStoreName,
    controlPlane: { deployment: { replicas }, service: { serviceType: 'ClusterIP' } },
    kubernetes: { version, kubelet: { cgroupfs: 'cgroupfs' } },
    networkProfile: { port: tenantPort },
    addons: { coreDNS: {}, kubeProxy: {} },
  };
  return { apiVersion: tenantApiVersion, kind: 'TenantControlPlane', metadata: { name, namespace }, spec: { ...spec } };
}

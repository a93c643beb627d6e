import { defaultAdmissionControllers } from '../../api/embedded/admission-controllers.ts';
import type { TenantControlPlane, TenantControlPlaneSpec } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { strippedSpec } from './stripped-field.ts';

/** What a test says about a TenantControlPlane; the rest is as the API server defaults it. */
export interface TenantControlPlaneChanges {
  readonly metadata?: Partial<TenantControlPlane['metadata']>;
  readonly spec?: Partial<TenantControlPlaneSpec>;
  readonly deployment?: Partial<TenantControlPlaneSpec['controlPlane']['deployment']>;
  readonly service?: Partial<TenantControlPlaneSpec['controlPlane']['service']>;
  readonly kubernetes?: Partial<TenantControlPlaneSpec['kubernetes']>;
  readonly networkProfile?: Partial<TenantControlPlaneSpec['networkProfile']>;
  readonly status?: TenantControlPlane['status'];
}

/** A TenantControlPlane `default/tenant` with every default in place. */
export function tenantControlPlaneWith(changes: TenantControlPlaneChanges = {}): TenantControlPlane {
  const { status } = changes;
  const tcp: TenantControlPlane = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: {
      name: 'tenant',
      namespace: 'default',
      uid: '0dd5c1a0-4b0c-4b0e-9d55-6b8d6b3f9c11',
      resourceVersion: '1',
      generation: 1,
      ...changes.metadata,
    },
    spec: {
      dataStore: 'default',
      addons: {},
      ...changes.spec,
      controlPlane: {
        deployment: {
          registrySettings: {
            registry: 'registry.k8s.io',
            apiServerImage: 'kube-apiserver',
            controllerManagerImage: 'kube-controller-manager',
            schedulerImage: 'kube-scheduler',
          },
          replicas: 2,
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' } },
          serviceAccountName: 'default',
          ...changes.deployment,
        },
        service: { serviceType: 'ClusterIP', ...changes.service },
        ...changes.spec?.controlPlane,
      },
      kubernetes: {
        version: 'v1.36.3',
        kubelet: { preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'] },
        admissionControllers: [...defaultAdmissionControllers],
        ...changes.kubernetes,
      },
      networkProfile: {
        clusterDomain: 'cluster.local',
        port: 6443,
        serviceCidr: '10.96.0.0/16',
        podCidr: '10.244.0.0/16',
        ...changes.networkProfile,
      },
    },
    status,
  };
  return { ...tcp, spec: strippedSpec(tcp.spec) };
}

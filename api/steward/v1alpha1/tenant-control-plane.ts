import { stewardGroup } from '../../names.ts';
import type { Input, NamespacedKind, ObjectOf } from '../../schema.ts';
import { tenantControlPlaneSpec } from './tenant-control-plane-spec.ts';
import type { TenantControlPlaneSpec } from './tenant-control-plane-spec.ts';
import { tenantControlPlaneStatus } from './tenant-control-plane-status.ts';
import type { TenantControlPlaneStatus } from './tenant-control-plane-status.ts';

export type { TenantControlPlaneSpec } from './tenant-control-plane-spec.ts';
export type { TenantControlPlaneStatus } from './tenant-control-plane-status.ts';

/** A spec as its author may write it: fields with a default are optional. */
export type TenantControlPlaneSpecInput = Input<typeof tenantControlPlaneSpec>;

/**
 * A Kubernetes control plane that runs in pods. It has one version and one schema, so its CustomResourceDefinition
 * declares no conversion webhook; nothing would serve one.
 */
export const tenantControlPlane: NamespacedKind<
  TenantControlPlaneSpec,
  TenantControlPlaneStatus,
  TenantControlPlaneSpecInput
> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'TenantControlPlane',
  plural: 'tenantcontrolplanes',
  namespaced: true,
  singular: 'tenantcontrolplane',
  listKind: 'TenantControlPlaneList',
  shortNames: ['tcp'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description: 'A Kubernetes control plane that runs in pods of the management cluster.',
  spec: tenantControlPlaneSpec,
  status: tenantControlPlaneStatus,
  scale: {
    specReplicasPath: '.spec.controlPlane.deployment.replicas',
    statusReplicasPath: '.status.kubernetesResources.deployment.replicas',
    labelSelectorPath: '.status.kubernetesResources.deployment.selector',
  },
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.kubernetes.version' },
    { name: 'Installed Version', type: 'string', jsonPath: '.status.kubernetesResources.version.version' },
    { name: 'Status', type: 'string', jsonPath: '.status.kubernetesResources.version.status' },
    { name: 'Control-Plane endpoint', type: 'string', jsonPath: '.status.controlPlaneEndpoint' },
    { name: 'Kubeconfig', type: 'string', jsonPath: '.status.kubeconfig.admin.secretName' },
    { name: 'Datastore', type: 'string', jsonPath: '.status.storage.dataStoreName' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Sleep', type: 'string', jsonPath: '.status.conditions[?(@.type=="Asleep")].reason', priority: 1 },
    { name: 'Since', type: 'date', jsonPath: '.status.sleep.since', priority: 1 },
  ],
};

export type TenantControlPlane = ObjectOf<typeof tenantControlPlane>;

import { controlPlaneGroup } from '../names.ts';
import type { Column, NamespacedKind, ObjectOf } from '../schema.ts';
import { contractLabels, contractVersions } from './contract-versions.ts';
import { stewardControlPlaneSpec } from './steward-control-plane-spec.ts';
import type { StewardControlPlaneSpec, StewardControlPlaneSpecInput } from './steward-control-plane-spec.ts';
import { stewardControlPlaneStatus } from './steward-control-plane-status.ts';
import type { StewardControlPlaneStatus } from './steward-control-plane-status.ts';

const [v1alpha1, v1alpha2] = contractVersions;

const columns = (initialized: string): readonly Column[] => [
  { name: 'Version', type: 'string', jsonPath: '.spec.version' },
  { name: 'Initialized', type: 'boolean', jsonPath: initialized },
  { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Sleep', type: 'string', jsonPath: '.status.conditions[?(@.type=="Asleep")].reason', priority: 1 },
  {
    name: 'Since',
    type: 'date',
    jsonPath: '.status.conditions[?(@.type=="Asleep")].lastTransitionTime',
    priority: 1,
  },
];

/** Implements the control-plane provider contract of Cluster API with a TenantControlPlane. */
export const stewardControlPlane: NamespacedKind<
  StewardControlPlaneSpec,
  StewardControlPlaneStatus,
  StewardControlPlaneSpecInput
> = {
  group: controlPlaneGroup,
  version: v1alpha2.name,
  kind: 'StewardControlPlane',
  plural: 'stewardcontrolplanes',
  namespaced: true,
  singular: 'stewardcontrolplane',
  listKind: 'StewardControlPlaneList',
  shortNames: ['stcp'],
  categories: ['cluster-api', 'steward'],
  versions: [{ ...v1alpha1, columns: columns('.status.initialized') }, v1alpha2],
  description: 'Control plane of a Cluster API Cluster, hosted as a TenantControlPlane.',
  spec: stewardControlPlaneSpec,
  status: stewardControlPlaneStatus,
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  columns: columns('.status.initialization.controlPlaneInitialized'),
  labels: contractLabels,
};

export type StewardControlPlane = ObjectOf<typeof stewardControlPlane>;

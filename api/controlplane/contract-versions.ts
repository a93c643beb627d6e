import type { KindVersion } from '../schema.ts';

/**
 * Versions of our kinds in the group of Cluster API. `v1alpha1` is the storage version of existing installations. It
 * stays the storage version, because clusterctl refuses an upgrade whose definition lacks it. Both have the same
 * schema; one version per contract keeps the choice of Cluster API unambiguous.
 */
export const contractVersions: readonly [KindVersion, KindVersion] = [
  { name: 'v1alpha1', served: true, storage: true },
  { name: 'v1alpha2', served: true, storage: false },
];

/** Labels from which Cluster API learns which version implements which contract. */
export const contractLabels = {
  'cluster.x-k8s.io/v1beta1': 'v1alpha1',
  'cluster.x-k8s.io/v1beta2': 'v1alpha2',
} as const;

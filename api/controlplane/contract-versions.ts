import type { KindVersion } from '../schema.ts';

/**
 * Versions of our kinds in Cluster API's group. `v1alpha1` is the stored version of existing installations: clusterctl
 * refuses an upgrade whose definition lacks it, so it stays and stays the stored one. Both have the same schema; a
 * version per contract keeps the choice of Cluster API unambiguous.
 */
export const contractVersions: readonly [KindVersion, KindVersion] = [
  { name: 'v1alpha1', served: true, storage: true },
  { name: 'v1alpha2', served: true, storage: false },
];

/** Labels that tell Cluster API which of our versions speaks which contract. */
export const contractLabels = {
  'cluster.x-k8s.io/v1beta1': 'v1alpha1',
  'cluster.x-k8s.io/v1beta2': 'v1alpha2',
} as const;

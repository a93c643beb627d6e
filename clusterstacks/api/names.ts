/**
 * Names of the cluster stack layer. Group, finalizers and the label `instance` are those of the cluster-stack-operator.
 */

export const clusterStackGroup = 'clusterstack.x-k8s.io';
export const clusterStackVersion = 'v1alpha1';

/** Leader election Lease of the cluster-stack-operator, in the namespace of its installation. */
export const clusterStackOperatorLease = 'clusterstack.x-k8s.io';

/** API group of the release objects of providers, such as node images. */
export const providerReleaseGroup = `infrastructure.${clusterStackGroup}`;

export const clusterStackLabels = {
  /** On objects that a release created: name of its ClusterStackRelease. */
  release: `${clusterStackGroup}/release`,
  /**
   * On objects that a release created: `<provider>-<name>` of its stack, without Kubernetes minor version and version.
   */
  stack: `${clusterStackGroup}/stack`,
  /** `owned` on all objects created for a release or an add-on. */
  instance: `${clusterStackGroup}/instance`,
} as const;

/** Value of `clusterStackLabels.instance`. */
export const ownedInstance = 'owned';

export const clusterStackFinalizers = {
  release: `clusterstackrelease.${clusterStackGroup}`,
  addon: `clusteraddon.${clusterStackGroup}`,
} as const;

/** On a ClusterAddon: `created` or `upgraded`. The key has no prefix, as in the cluster-stack-operator. */
export const addonStageAnnotation = 'ClusterAddonStage';

/**
 * On an object without a controller: name of the ClusterStackRelease that adopts it, since its chart has an object of
 * that name.
 */
export const adoptAnnotation = `${clusterStackGroup}/adopt`;

/**
 * On a ClusterAddon or ClusterStackRelease: each new value regenerates random parts of charts, such as certificates,
 * once.
 */
export const regenerateAnnotation = `${clusterStackGroup}/regenerate`;

/** On objects with random parts: what they were generated from, and in which rendering. */
export const generatedAnnotation = `${clusterStackGroup}/generated`;

/** Field manager of the layer, in the management cluster and in workload clusters. */
export const clusterStackFieldManager = 'steward-clusterstacks';

/** Name of the ClusterAddon of a Cluster. */
export const clusterAddonName = (cluster: string): string => `cluster-addon-${cluster}`;

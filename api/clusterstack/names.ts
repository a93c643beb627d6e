/** Names of the layer of cluster stacks; group, finalizers and the label `instance` are those of the cluster-stack-operator. */

export const clusterStackGroup = 'clusterstack.x-k8s.io';
export const clusterStackVersion = 'v1alpha1';

/** The Lease by which the cluster-stack-operator elects its leader, in the namespace that it is installed in. */
export const clusterStackOperatorLease = 'clusterstack.x-k8s.io';

/** The group of providers' own release objects, such as node images. */
export const providerReleaseGroup = `infrastructure.${clusterStackGroup}`;

export const clusterStackLabels = {
  /** On what a release made: name of its ClusterStackRelease. */
  release: `${clusterStackGroup}/release`,
  /** On what a release made: `<provider>-<name>` of its stack, the same for every Kubernetes minor and version. */
  stack: `${clusterStackGroup}/stack`,
  /** `owned` on everything that was made for a release or an add-on. */
  instance: `${clusterStackGroup}/instance`,
} as const;

/** Value of `clusterStackLabels.instance`. */
export const ownedInstance = 'owned';

export const clusterStackFinalizers = {
  release: `clusterstackrelease.${clusterStackGroup}`,
  addon: `clusteraddon.${clusterStackGroup}`,
} as const;

/** On a ClusterAddon: `created` or `upgraded`. The key has no prefix, as the cluster-stack-operator writes it. */
export const addonStageAnnotation = 'ClusterAddonStage';

/** On an object that nobody controls: name of the ClusterStackRelease that takes it over, as its chart has an object of that name. */
export const adoptAnnotation = `${clusterStackGroup}/adopt`;

/** On a ClusterAddon or a ClusterStackRelease: each new value has what charts make by chance, such as certificates, made anew once. */
export const regenerateAnnotation = `${clusterStackGroup}/regenerate`;

/** On objects with parts made by chance: what they were made from, and in which rendering. */
export const generatedAnnotation = `${clusterStackGroup}/generated`;

/** One field manager for whatever the layer applies, here and in workload clusters. */
export const clusterStackFieldManager = 'steward-clusterstacks';

/** Name of the ClusterAddon of a Cluster. */
export const clusterAddonName = (cluster: string): string => `cluster-addon-${cluster}`;

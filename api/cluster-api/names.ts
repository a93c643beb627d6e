/** Names that Cluster API gives a meaning (https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations). */

export const capiGroup = 'cluster.x-k8s.io';

/** Label that names the Cluster on everything that belongs to it. */
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';
/** Label by whose value a manager can be restricted to some Clusters. */
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter';
/** Annotation that stops reconciliation, with any value. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';
/** Annotation of an infrastructure cluster that somebody else than its provider looks after. */
export const managedByAnnotation = 'cluster.x-k8s.io/managed-by';
/** Annotation by which the topology controller marks its dry runs. */
export const topologyDryRunAnnotation = 'topology.cluster.x-k8s.io/dry-run';
/** Type of the Secrets that Cluster API reads. It cannot change after creation. */
export const clusterSecretType = 'cluster.x-k8s.io/secret';
/** Annotation that clusterctl sets on what it deletes because it has moved it to another management cluster. */
export const deleteForMoveAnnotation = 'clusterctl.cluster.x-k8s.io/delete-for-move';

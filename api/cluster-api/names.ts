/** Names defined by Cluster API (https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations). */

export const capiGroup = 'cluster.x-k8s.io';

/** Label with the name of the Cluster, on everything that belongs to it. */
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';
/** Label by which a manager can be restricted to some Clusters. */
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter';
/** Annotation that pauses reconciliation, with any value. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';
/** Annotation of an infrastructure cluster that is managed by something other than its provider. */
export const managedByAnnotation = 'cluster.x-k8s.io/managed-by';
/** Label on what the topology of a Cluster writes. */
export const topologyOwnedLabel = 'topology.cluster.x-k8s.io/owned';
/** Annotation with which the topology controller marks its dry runs. */
export const topologyDryRunAnnotation = 'topology.cluster.x-k8s.io/dry-run';
/** Type of the Secrets that Cluster API reads. The type of a Secret is immutable. */
export const clusterSecretType = 'cluster.x-k8s.io/secret';
/** Annotation that clusterctl sets on objects that it deletes after moving them to another management cluster. */
export const deleteForMoveAnnotation = 'clusterctl.cluster.x-k8s.io/delete-for-move';

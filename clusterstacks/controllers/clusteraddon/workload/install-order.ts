import type { Manifest } from '../../../../api/meta.ts';

/**
 * The order in which Helm installs kinds (helm.sh/helm/v4/pkg/release/v1/util, InstallOrder), with definitions first of all: what
 * comes in the same chart needs them.
 */
const order: readonly string[] = [
  'CustomResourceDefinition',
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];

const rankOf = ({ kind }: Pick<Manifest, 'kind'>): number => {
  const rank = order.indexOf(kind);
  // Kinds that Helm does not know come last.
  return rank < 0 ? order.length : rank;
};

/** The manifests in groups of one kind's rank, in the order of installation; inside of a group the chart's order stays. */
export function installOrder(manifests: readonly Manifest[]): readonly (readonly Manifest[])[] {
  const groups = Map.groupBy(manifests, rankOf);
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/** True for a definition of kinds. */
export function isDefinition({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion.startsWith('apiextensions.k8s.io/');
}

import type { PolicyRule } from '../../../api/meta.ts';

/** What the controllers of ClusterAddons may do in the management cluster; rights on infrastructure clusters are aggregated. */
export const access: readonly PolicyRule[] = [
  {
    apiGroups: ['clusterstack.x-k8s.io'],
    resources: ['clusteraddons'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  { apiGroups: ['clusterstack.x-k8s.io'], resources: ['clusteraddons/status'], verbs: ['get', 'patch'] },
  { apiGroups: ['clusterstack.x-k8s.io'], resources: ['clusteraddons/finalizers'], verbs: ['update'] },
  {
    apiGroups: ['clusterstack.x-k8s.io'],
    resources: ['clusterstackreleases'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: ['clusterstack.x-k8s.io'], resources: ['clusterstacks'], verbs: ['get'] },
  {
    apiGroups: ['cluster.x-k8s.io'],
    resources: ['clusters', 'clusterclasses', 'machinedeployments'],
    verbs: ['get', 'list', 'watch'],
  },
  // An owner reference that blocks the Cluster's deletion may only be written by those who may finalize it.
  { apiGroups: ['cluster.x-k8s.io'], resources: ['clusters/finalizers'], verbs: ['update'] },
  // Values of charts may be taken from control planes of any kind.
  { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['*'], verbs: ['get'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'list', 'watch'] },
];

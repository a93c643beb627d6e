import type { PolicyRule } from '../../api/meta.ts';

/** What this controller may do in the management cluster; rights on infrastructure clusters are aggregated. */
export const access: readonly PolicyRule[] = [
  {
    apiGroups: ['controlplane.cluster.x-k8s.io'],
    resources: ['stewardcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'patch'],
  },
  { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['stewardcontrolplanes/status'], verbs: ['get', 'patch'] },
  { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['stewardcontrolplanes/finalizers'], verbs: ['update'] },
  {
    apiGroups: ['cluster.x-k8s.io'],
    resources: ['clusters', 'machines', 'machinepools'],
    verbs: ['get', 'list', 'watch'],
  },
  {
    apiGroups: ['steward.butlerlabs.dev'],
    resources: ['tenantcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // By one of its own it has the backup restored that its spec names.
  {
    apiGroups: ['steward.butlerlabs.dev'],
    resources: ['tenantrestores'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // It names the TenantControlPlane that adopts what is retained, and deletes what none has adopted.
  {
    apiGroups: ['steward.butlerlabs.dev'],
    resources: ['retainedcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  // Admission reads their labels, which say what pods may do there.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'list', 'watch'] },
];

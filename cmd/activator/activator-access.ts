import type { PolicyRule } from '../../api/meta.ts';
import { activatorObjects } from '../../api/names.ts';

/** What the activator may do in all namespaces: see which control planes are ready, and the addresses of their nodes. */
export const activatorAccess: readonly PolicyRule[] = [
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

/** What it may do in the manager's namespace: see which port is for which control plane, and request that one wakes up. */
export const activatorNamespaceAccess: readonly PolicyRule[] = [
  {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [activatorObjects.ports],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [activatorObjects.wakeRequests], verbs: ['patch'] },
];

import type { PolicyRule } from '../../../api/meta.ts';

/**
 * All that the user of a kubeconfig needs in the other cluster, in the one namespace: the source of config/hosting/role.yaml.
 * Secrets are read by names that are known only later, so that no rule can list them.
 */
export const hostingAccess: readonly PolicyRule[] = [
  {
    apiGroups: ['steward.butlerlabs.dev'],
    resources: ['tenantcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  // The namespace itself: its UID identifies the cluster.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
];

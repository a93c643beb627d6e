import type { PolicyRule } from '../../api/meta.ts';

const group = 'steward.butlerlabs.dev';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['kubeconfiggenerators'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [group], resources: ['kubeconfiggenerators/status'], verbs: ['get', 'patch'] },
  { apiGroups: [group], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
];

import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['backuppolicies'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['backuppolicies/status'], verbs: ['get', 'patch'] },
  // Each backup of a policy has one.
  { apiGroups: [stewardGroup], resources: ['tenantbackups'], verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  // Rehearsals create and delete both.
  {
    apiGroups: [stewardGroup],
    resources: ['tenantcontrolplanes', 'tenantrestores'],
    verbs: ['get', 'list', 'watch', 'create', 'delete'],
  },
];

/** What it may do in the manager's own namespace, where the processes of backups run. */
export const operatorNamespaceAccess: readonly PolicyRule[] = [
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  // What keeps them from running, and whether they are gone. The manager's own pod provides their image.
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
];

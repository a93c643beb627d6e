import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['tenantbackups'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['tenantbackups/status'], verbs: ['get', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['backuppolicies', 'tenantcontrolplanes'], verbs: ['get', 'list', 'watch'] },
];

/** What it may do in the manager's own namespace, where the processes of backups run. */
export const operatorNamespaceAccess: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
];

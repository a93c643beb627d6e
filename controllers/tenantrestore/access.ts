import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['tenantrestores'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['tenantrestores/status'], verbs: ['get', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['backuppolicies', 'tenantbackups'], verbs: ['get', 'list', 'watch'] },
  // It is put to sleep if the spec says so.
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch', 'patch'] },
  // Whether the key of the backups is there.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  // Whether the control plane that was backed up still writes.
  { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
];

/** What it may do in the manager's own namespace, where the processes of restores run. */
export const operatorNamespaceAccess: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  // Whether another process works on the same control plane.
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] },
];

import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  {
    apiGroups: [stewardGroup],
    resources: ['retainedcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'patch', 'delete'],
  },
  { apiGroups: [stewardGroup], resources: ['retainedcontrolplanes/status'], verbs: ['get', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch'] },
  // Retained data is removed from the datastore that it is in.
  { apiGroups: [stewardGroup], resources: ['datastores'], verbs: ['get'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
];

import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['controlplanepools'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['controlplanepools/status'], verbs: ['get', 'patch'] },
  // Some clusters ask for it from who makes a pool the owner that waits for its control planes.
  { apiGroups: [stewardGroup], resources: ['controlplanepools/finalizers'], verbs: ['update'] },
  { apiGroups: [stewardGroup], resources: ['controlplaneclaims'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [stewardGroup],
    resources: ['tenantcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'create', 'delete'],
  },
];

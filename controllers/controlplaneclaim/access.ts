import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['controlplaneclaims'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['controlplaneclaims/status'], verbs: ['get', 'patch'] },
  // Some clusters ask for it from who makes a claim the owner that waits for its control plane.
  { apiGroups: [stewardGroup], resources: ['controlplaneclaims/finalizers'], verbs: ['update'] },
  { apiGroups: [stewardGroup], resources: ['controlplanepools'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
];

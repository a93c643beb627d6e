import type { PolicyRule } from '../../api/meta.ts';

/** What this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: ['steward.butlerlabs.dev'], resources: ['datastores'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: ['steward.butlerlabs.dev'], resources: ['datastores/status'], verbs: ['get', 'patch'] },
  { apiGroups: ['steward.butlerlabs.dev'], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['steward.butlerlabs.dev'], resources: ['retainedcontrolplanes'], verbs: ['list'] },
  // The Secrets that it reads are labeled, so that the webhook is called only for their deletion.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'patch'] },
];

import type { PolicyRule } from '../api/meta.ts';

/** What the process of a migration may do: read one tenant, two DataStores and their credentials; it changes none of them. */
export const migrateAccess: readonly PolicyRule[] = [
  { apiGroups: ['steward.butlerlabs.dev'], resources: ['tenantcontrolplanes', 'datastores'], verbs: ['get'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
];

/** What it may do in the operator's namespace: read its own Job and write annotations there. */
export const migrateNamespaceAccess: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'patch'] },
];

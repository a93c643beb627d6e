import type { Flags } from './flags.ts';

/** The flags of `steward migrate`. The manager sets them in its migration Jobs. */
export const migrateFlags = {
  kubeconfig: {
    value: '',
    help: 'Path of a kubeconfig for the management cluster. Defaults to the service account of the pod.',
  },
  'pod-namespace': { value: '', help: 'Namespace of the Job ($POD_NAMESPACE).' },
  'tenant-control-plane': { value: '', help: 'TenantControlPlane whose data is migrated, as namespace/name.' },
  'target-datastore': { value: '', help: 'Name of the DataStore to which the data is migrated.' },
  'cleanup-prior-migration': {
    value: false,
    help: 'Whether to remove data of this same tenant that is already in the target under the names that are used.',
  },
  timeout: {
    value: '1h',
    help: 'Maximum duration from the start of the migration until the tenant can be switched. After that, the migration is rolled back.',
  },
} as const satisfies Flags;

import type { Flags } from './flags.ts';

/** The flags of `steward migrate`, which the manager gives its Jobs. */
export const migrateFlags = {
  kubeconfig: { value: '', help: 'File that leads to the management cluster; empty: the service account of the pod.' },
  'pod-namespace': { value: '', help: 'Namespace of the Job ($POD_NAMESPACE).' },
  'tenant-control-plane': { value: '', help: 'The tenant whose data moves, as namespace/name.' },
  'target-datastore': { value: '', help: 'Name of the DataStore that the data moves to.' },
  'cleanup-prior-migration': {
    value: false,
    help: 'Removes data of this very tenant that is already in the target under the names in use.',
  },
  timeout: {
    value: '1h',
    help: 'How long the migration may take from its beginning until the tenant can be switched; then it is undone.',
  },
} as const satisfies Flags;

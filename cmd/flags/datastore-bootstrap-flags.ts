import type { Flags } from './flags.ts';

/** The flags of `steward datastore-bootstrap` for stores beside etcd. */
export const serverBootstrapFlags = {
  kubeconfig: { value: '', help: 'Path of a kubeconfig for the cluster. Defaults to the service account of the pod.' },
  namespace: { value: 'steward-system', help: 'Namespace of the StatefulSet and of its Secrets.' },
  'cluster-domain': { value: 'cluster.local', help: 'DNS domain of the cluster.' },
  timeout: { value: '10m', help: 'Maximum duration. For etcd, this includes waiting for its members.' },
} as const satisfies Flags;

/** The flags of `steward datastore-bootstrap etcd`. */
export const datastoreBootstrapFlags = {
  ...serverBootstrapFlags,
  members: { value: 1, help: 'Number of replicas of the StatefulSet.' },
  'data-store': {
    value: '',
    help: 'Name of the DataStore to create for it once its members are ready. If empty, none is created.',
  },
} as const satisfies Flags;

import type { Flags } from './flags.ts';

/** The flags of `steward activator`. */
export const activatorFlags = {
  kubeconfig: {
    value: '',
    help: 'Path of a kubeconfig for the management cluster. Defaults to the service account of the pod.',
  },
  'pod-namespace': { value: '', help: 'Namespace of the manager and of the activator ($POD_NAMESPACE).' },
  'health-probe-bind-address': { value: ':8081', help: 'Address at which /healthz, /readyz and /metrics are served.' },
  'background-networks': {
    value: '',
    help: 'Networks whose callers wake no control plane, separated by commas, such as 10.244.0.0/16 for the pods of the management cluster.',
  },
  'max-connections': {
    value: 2000,
    help: 'Most connections at once, to all control planes together: so many that wait, and so many that were passed on.',
  },
  'max-connections-per-tenant': {
    value: 500,
    help: 'Most connections at once to one control plane: so many that wait, and so many that were passed on.',
  },
} as const satisfies Flags;

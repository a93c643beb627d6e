import type { Network } from '../../../../kubeadm/networks.ts';

/** What authors of control planes may use that has effects outside their namespace, as configured by the operator. */
export interface Reach {
  /** Networks whose addresses a Service may use as external IPs. */
  readonly externalIps: readonly Network[];
  /** Annotations besides the usual ones: whole keys, or prefixes of keys that end in a slash; `*` allows every key. */
  readonly annotations: readonly string[];
}

/** The default: nothing has effects outside the namespace. */
export const ownNamespaceOnly: Reach = { externalIps: [], annotations: [] };

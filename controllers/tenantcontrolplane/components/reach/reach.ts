import type { Network } from '../../../../kubeadm/networks.ts';

/** What authors of control planes may use that is seen outside their namespace, as the administrator of the manager says. */
export interface Reach {
  /** Networks whose addresses a Service may take from the whole cluster. */
  readonly externalIps: readonly Network[];
  /** Annotations besides the usual ones: whole keys, or beginnings of keys that end in a slash; `*` is every key. */
  readonly annotations: readonly string[];
}

/** What holds unless the administrator says more. */
export const ownNamespaceOnly: Reach = { externalIps: [], annotations: [] };

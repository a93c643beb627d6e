import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Leaf } from '../../../../kubeadm/pki/profiles.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';
import type { Endpoint } from '../control-plane-input.ts';
import { agentHost } from './agent-address.ts';

/** The user as which the konnectivity server asks who an agent is; also the audience of the agents' tokens. */
export const konnectivityUser = 'system:konnectivity-server';

/** The certificates of the konnectivity server: the one that it shows agents, and the one in its kubeconfig. */
export type KonnectivityLeaf = 'konnectivity-server' | 'konnectivity-server.conf';

/**
 * What they say. They are two, each for one purpose, and in no group: the binding to `system:auth-delegator` is all that the
 * server needs. Throws `InvalidInputError` for an endpoint that is neither name nor address.
 */
export function konnectivityLeaves(
  tcp: TenantControlPlane,
  endpoint: Endpoint,
): Readonly<Record<KonnectivityLeaf, Leaf>> {
  const names = alternativeNames([agentHost(tcp, endpoint)], 'controlPlaneEndpoint');
  return {
    'konnectivity-server': {
      signer: 'ca',
      profile: { commonName: konnectivityUser, usages: ['serverAuth'], ...names },
    },
    'konnectivity-server.conf': {
      signer: 'ca',
      profile: { commonName: konnectivityUser, usages: ['clientAuth'] },
    },
  };
}

import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Leaf } from '../../../../kubeadm/pki/profiles.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';
import type { Endpoint } from '../control-plane-input.ts';
import { konnectivityHost } from '../publication.ts';
import { agentHost } from './agent-address.ts';

/** The user as which the konnectivity server asks who an agent is; also the audience of the agents' tokens. */
export const konnectivityUser = 'system:konnectivity-server';

/** The certificates of the konnectivity server: the one that it shows agents, and the one in its kubeconfig. */
export type KonnectivityLeaf = 'konnectivity-server' | 'konnectivity-server.conf';

/** The names by which agents of an endpoint that others are told of may come. */
function names(tcp: TenantControlPlane, endpoint: Endpoint, hostInUse: string): readonly string[] {
  const host = agentHost(tcp, endpoint);
  // What led there before is not known any more; both of its names are right.
  return hostInUse === endpoint.host ? [host] : [host, hostInUse, konnectivityHost(hostInUse)];
}

/**
 * What they say. They are two, each for one purpose, and in no group: the binding to `system:auth-delegator` is all that the
 * server needs. `hostInUse` is that of the endpoint before where that changes. Throws `InvalidInputError` for an endpoint that is neither name nor address.
 */
export function konnectivityLeaves(
  tcp: TenantControlPlane,
  endpoint: Endpoint,
  hostInUse = endpoint.host,
): Readonly<Record<KonnectivityLeaf, Leaf>> {
  const hosts = alternativeNames(names(tcp, endpoint, hostInUse), 'controlPlaneEndpoint');
  return {
    'konnectivity-server': {
      signer: 'ca',
      profile: { commonName: konnectivityUser, usages: ['serverAuth'], ...hosts },
    },
    'konnectivity-server.conf': {
      signer: 'ca',
      profile: { commonName: konnectivityUser, usages: ['clientAuth'] },
    },
  };
}

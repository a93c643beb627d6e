import { dataKeys, tenantObjects, tenantUsers } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Leaf } from '../../../../kubeadm/pki/profiles.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';
import type { KubeconfigSecret } from '../../certificates/kubeconfig-secrets.ts';
import type { LeafSecret } from '../../certificates/leaf-secrets.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { derivedHost } from '../../shared/addon-server.ts';
import { konnectivityServer } from './konnectivity-server.ts';
import { agentHost } from './agent-address.ts';

/** The user with which the konnectivity server reviews the tokens of agents; also the audience of those tokens. */
export const konnectivityUser = tenantUsers.konnectivity;

/** The certificates of the konnectivity server: the one that it presents to agents, and the one in its kubeconfig. */
type KonnectivityLeaf = 'konnectivity-server' | 'konnectivity-server.conf';

/** The names under which agents may reach the server: the wanted one, and previous ones for as long as agents dial them. */
function names(tcp: TenantControlPlane, endpoint: Endpoint, hostInUse: string): readonly string[] {
  const host = agentHost(tcp, endpoint);
  const dialed = konnectivityServer.hostname?.dialed(tcp)?.host;
  const own = dialed === undefined ? [host] : [host, dialed];
  // What the previous endpoint led to is no longer known, so both of its names are included.
  return hostInUse === endpoint.host ? own : [...own, hostInUse, derivedHost(hostInUse, konnectivityServer)];
}

/**
 * The subjects and names of the two certificates, each for one purpose and in no group: the binding to `system:auth-delegator` is
 * all that the server needs. `hostInUse` is the host of the previous endpoint while the endpoint changes. Throws
 * `InvalidInputError` for an endpoint that is neither name nor address.
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

/** The Secret of the certificate that the server presents to agents. */
export function konnectivitySecret(tcp: TenantControlPlane): LeafSecret {
  return {
    leaf: 'konnectivity-server' satisfies KonnectivityLeaf,
    name: tenantObjects(tcp.metadata.name).konnectivityCertificate,
    component: 'konnectivity-certificate',
    keys: dataKeys.konnectivityCertificate,
    type: 'kubernetes.io/tls',
  };
}

/** The Secret of the server's kubeconfig. */
export function konnectivityKubeconfig(tcp: TenantControlPlane, { port }: Endpoint): KubeconfigSecret {
  const file = {
    key: dataKeys.konnectivityKubeconfig,
    user: 'konnectivity-server.conf' satisfies KonnectivityLeaf,
    server: `https://localhost:${port}`,
    clusterName: 'kubernetes',
  };
  const { konnectivityKubeconfig: name } = tenantObjects(tcp.metadata.name);
  return { name, component: 'konnectivity-kubeconfig', files: [file] };
}

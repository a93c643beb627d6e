import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { HostAndPort } from './host-and-port.ts';
import { formatHostAndPort } from './host-and-port.ts';

/**
 * The endpoint to publish: that of the control plane, unless the Cluster has one that Cluster API will never change again.
 * That one can be used if the certificate of the API server has its name; otherwise workers could not connect.
 */
export function clusterEndpointOf(
  scp: StewardControlPlane,
  cluster: CapiCluster,
  endpoint: HostAndPort,
): { readonly endpoint: HostAndPort } | { readonly disagrees: string } {
  const { host = '', port = 0 } = cluster.spec?.controlPlaneEndpoint ?? {};
  const isKnown = host !== '' && port !== 0;
  if (!isKnown || (host === endpoint.host && port === endpoint.port)) return { endpoint };
  const names = scp.spec.network.certSANs ?? [];
  if (host !== endpoint.host && names.includes(host)) return { endpoint: { host, port } };
  const found = formatHostAndPort({ host, port });
  const wanted = formatHostAndPort(endpoint);
  return {
    disagrees: `the Cluster ${cluster.metadata.name} has the endpoint ${found}, which Cluster API never changes, but the endpoint of the control plane is ${wanted}: change the endpoint of the control plane with spec.network.serviceAddress and the Cluster's spec.clusterNetwork.apiServerPort, or add ${host} to spec.network.certSANs if it leads to the control plane`,
  };
}

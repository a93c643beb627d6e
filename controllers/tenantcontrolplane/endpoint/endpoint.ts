import type { Node, Service } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { canAdvertise } from '../shared/address-family.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import { publicationOf } from './exposure/exposure.ts';
import { servicePort } from './service.ts';
import type { PortRange } from './service.ts';

/** The inputs that decide the endpoint of a control plane. */
export interface EndpointInput {
  readonly tcp: TenantControlPlane;
  readonly service: Service;
  readonly nodePorts: PortRange;
  /** Address of a node of the management cluster, for NodePort Services without an address of their own. */
  readonly nodeAddress: string | undefined;
}

/** The endpoint, with a hint for its user, or what its Service still lacks. */
export type EndpointFinding =
  | { readonly endpoint: Endpoint; readonly message: string }
  | { readonly missing: 'NotExposed' | 'NoNodeAddress' | 'WrongAddressFamily'; readonly message: string };

/**
 * True when the address of a node is needed: for a NodePort Service without another exposure and without an address from its
 * author.
 */
export function needsNodeAddress({ spec: { controlPlane, networkProfile } }: TenantControlPlane): boolean {
  const isPublished = (controlPlane.ingress ?? controlPlane.gateway) !== undefined;
  return controlPlane.service.serviceType === 'NodePort' && !isPublished && (networkProfile.address ?? '') === '';
}

type Missing = Exclude<EndpointFinding, { endpoint: Endpoint }>;

/** The address that the API server advertises, and the host at which its Service is reached. */
interface Reached {
  readonly address: string;
  readonly host: string;
}

const notEmpty = (text: string | undefined): text is string => text !== undefined && text !== '';

const at = (address: string): Reached => ({ address, host: address });

/** Of a dual-stack Service, the address that the API server can advertise. */
function clusterAddress(service: Service, tcp: TenantControlPlane): string | Missing {
  const { clusterIP, clusterIPs = [] } = service.spec ?? {};
  const address = clusterIPs.length > 1 ? clusterIPs.find((one) => canAdvertise(tcp, one)) : clusterIP;
  if (notEmpty(address) && address !== 'None') return address;
  return { missing: 'NotExposed', message: 'the Service has no cluster IP yet' };
}

function atClusterAddress({ service, tcp }: Pick<EndpointInput, 'service' | 'tcp'>, host?: string): Reached | Missing {
  const address = clusterAddress(service, tcp);
  return typeof address === 'string' ? { address, host: host ?? address } : address;
}

function atNode({ nodeAddress }: EndpointInput): Reached | Missing {
  if (nodeAddress !== undefined) return at(nodeAddress);
  return {
    missing: 'NoNodeAddress',
    message:
      'spec.networkProfile.address is not set and no node of the management cluster has an InternalIP: set it to the address at which workers reach the node port',
  };
}

function atLoadBalancer(input: EndpointInput): Reached | Missing {
  const { service, tcp } = input;
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const addresses = ingress.map(({ ip }) => ip).filter(notEmpty);
  const address = addresses.find((one) => canAdvertise(tcp, one)) ?? addresses[0];
  if (address !== undefined) return at(address);
  const hostname = ingress.map((entry) => entry.hostname).find(notEmpty);
  // The addresses behind a name may change at any time, and an API server advertises only one.
  if (hostname !== undefined) return atClusterAddress(input, hostname);
  return {
    missing: 'NotExposed',
    message: `the load balancer of Service ${service.metadata.name} has no address yet: a load-balancer controller must assign one`,
  };
}

function reached(input: EndpointInput): Reached | Missing {
  const { networkProfile, controlPlane } = input.tcp.spec;
  if (notEmpty(networkProfile.address)) return at(networkProfile.address);
  switch (controlPlane.service.serviceType) {
    case 'ClusterIP':
      return atClusterAddress(input);
    case 'NodePort':
      return needsNodeAddress(input.tcp) ? atNode(input) : atClusterAddress(input);
    case 'LoadBalancer':
      return atLoadBalancer(input);
  }
}

/** The advertised address that the author set, since Steward cannot see how the Service is reached. */
function advertised({ spec }: TenantControlPlane): Reached | undefined {
  const { advertiseAddress } = spec.networkProfile;
  return notEmpty(advertiseAddress) ? at(advertiseAddress) : undefined;
}

function wrongFamily({ spec }: TenantControlPlane, address: string): Missing {
  const { services } = tenantNetworks({ spec });
  return {
    missing: 'WrongAddressFamily',
    message: `the control plane is reached at ${address}, but kube-apiserver only advertises an address of the IP family of the first service network ${services.value}: set spec.networkProfile.address to such an address`,
  };
}

/** With a host name, pods of the tenant still dial the address that the API server advertises. */
function advice({ address, host }: Endpoint, { service }: EndpointInput): string {
  if (host === address || address !== service.spec?.clusterIP) return '';
  return `pods of the tenant are sent to ${address}, a cluster IP of the management cluster: if they cannot reach it, set spec.networkProfile.address to an address that reaches the control plane`;
}

/**
 * Where the control plane is reached, as far as spec and Service show: at a host name if it is exposed under one, or if its load
 * balancer has no address. Throws `InvalidInputError` for an invalid host name.
 */
export function findEndpoint(input: EndpointInput): EndpointFinding {
  const port = servicePort({ tcp: input.tcp, current: input.service, nodePorts: input.nodePorts });
  if (port === undefined) return { missing: 'NotExposed', message: 'the Service has no node port yet' };
  const found = advertised(input.tcp) ?? reached(input);
  if ('missing' in found) return found;
  if (!canAdvertise(input.tcp, found.address)) return wrongFamily(input.tcp, found.address);
  const { host, port: hostPort } = publicationOf(input.tcp, port) ?? { host: found.host, port };
  const endpoint = { address: found.address, port, host, hostPort };
  return { endpoint, message: advice(endpoint, input) };
}

/** The relevant facts about a node of the management cluster. */
export interface NodeAddress {
  readonly name: string;
  readonly address: string;
  readonly ready: boolean;
}

/** The internal addresses of nodes; a dual-stack node has two. */
export function nodeAddresses(nodes: readonly Node[]): readonly NodeAddress[] {
  return nodes.flatMap(({ metadata: { name }, status }) => {
    const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    const internal = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
    return internal.map(({ address }) => ({ name, address, ready }));
  });
}

/**
 * The node address for the endpoint: `preferred` while a node has it, so that workers keep their endpoint, otherwise that of the
 * first Ready node by name, otherwise of the first node.
 */
export function chooseNodeAddress(nodes: readonly NodeAddress[], preferred: string | undefined): string | undefined {
  const sorted = [...nodes].sort((a, b) => Number(b.ready) - Number(a.ready) || (a.name < b.name ? -1 : 1));
  return sorted.find(({ address }) => address === preferred)?.address ?? sorted[0]?.address;
}

import type { Node, Service } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Endpoint } from './control-plane-input.ts';
import { servicePort } from './service.ts';
import type { PortRange } from './service.ts';

/** What the address of a control plane follows from. */
export interface EndpointInput {
  readonly tcp: TenantControlPlane;
  readonly service: Service;
  readonly nodePorts: PortRange;
  /** Address of a node of the management cluster, for NodePort Services without an address of their own. */
  readonly nodeAddress: string | undefined;
}

/** The endpoint, or what its Service still lacks, in words for a person. */
export type EndpointFinding =
  | { readonly endpoint: Endpoint }
  | { readonly missing: 'NotExposed' | 'HostnameOnly' | 'NoNodeAddress'; readonly message: string };

/** True when a node must be looked up: a NodePort Service whose author gave no address. */
export function needsNodeAddress(tcp: TenantControlPlane): boolean {
  return tcp.spec.controlPlane.service.serviceType === 'NodePort' && (tcp.spec.networkProfile.address ?? '') === '';
}

type Missing = Exclude<EndpointFinding, { endpoint: Endpoint }>;

const notEmpty = (text: string | undefined): text is string => text !== undefined && text !== '';

function clusterAddress(service: Service): string | Missing {
  const address = service.spec?.clusterIP;
  if (notEmpty(address) && address !== 'None') return address;
  return { missing: 'NotExposed', message: 'the Service has no cluster address yet' };
}

function nodeAddressOf({ nodeAddress }: EndpointInput): string | Missing {
  if (nodeAddress !== undefined) return nodeAddress;
  return {
    missing: 'NoNodeAddress',
    message:
      'spec.networkProfile.address is not set and no node of the management cluster has an InternalIP: set the address under which workers reach the node port',
  };
}

function loadBalancerAddress(service: Service): string | Missing {
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const address = ingress.map(({ ip }) => ip).find(notEmpty);
  if (address !== undefined) return address;
  const name = service.metadata.name ?? '';
  const hostname = ingress.map((entry) => entry.hostname).find(notEmpty);
  if (hostname === undefined) {
    return {
      missing: 'NotExposed',
      message: `the load balancer of Service ${name} has no address yet: a load-balancer controller must give it one`,
    };
  }
  return {
    missing: 'HostnameOnly',
    message: `the load balancer of Service ${name} has only the host name ${hostname}, and an API server advertises an IP address: set spec.networkProfile.address to a static address of the load balancer`,
  };
}

function declaredAddress(input: EndpointInput): string | Missing {
  const { networkProfile, controlPlane } = input.tcp.spec;
  if (notEmpty(networkProfile.address)) return networkProfile.address;
  switch (controlPlane.service.serviceType) {
    case 'ClusterIP':
      return clusterAddress(input.service);
    case 'NodePort':
      return nodeAddressOf(input);
    case 'LoadBalancer':
      return loadBalancerAddress(input.service);
  }
}

/** Where the control plane is reached, as far as its Service tells. */
export function findEndpoint(input: EndpointInput): EndpointFinding {
  const port = servicePort({ tcp: input.tcp, current: input.service, nodePorts: input.nodePorts });
  if (port === undefined) return { missing: 'NotExposed', message: 'the Service has no node port yet' };
  const address = declaredAddress(input);
  if (typeof address !== 'string') return address;
  return { endpoint: { address, port, host: address, hostPort: port } };
}

/** A node of the management cluster as far as it matters here. */
export interface NodeAddress {
  readonly name: string;
  readonly address: string;
  readonly ready: boolean;
}

/** The internal addresses of nodes; those without one are left out. */
export function nodeAddresses(nodes: readonly Node[]): readonly NodeAddress[] {
  return nodes.flatMap((node) => {
    const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    return address === undefined ? [] : [{ address, ready, name: node.metadata.name ?? '' }];
  });
}

/**
 * The address of the node that stands for all: `preferred` while a node has it, so that workers keep their endpoint,
 * otherwise that of the first Ready node by name, otherwise of the first.
 */
export function chooseNodeAddress(nodes: readonly NodeAddress[], preferred: string | undefined): string | undefined {
  const sorted = [...nodes].sort((a, b) => Number(b.ready) - Number(a.ready) || (a.name < b.name ? -1 : 1));
  return sorted.find(({ address }) => address === preferred)?.address ?? sorted[0]?.address;
}

import type { Service } from '../../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isIpAddress } from '../../../../kubeadm/networks.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { namedServer, serverHost } from '../../shared/addon-server.ts';
import { konnectivityServer } from './konnectivity-server.ts';

/** Where agents reach the konnectivity servers of a control plane. */
export interface AgentAddress {
  readonly host: string;
  readonly port: number;
  /** True when the host is a name, which agents must resolve. */
  readonly byName: boolean;
}

/** The kind of route through which the host name reaches one of several Services, if any. */
function routerOf({ spec }: TenantControlPlane, { host }: Endpoint): 'Ingress' | 'Gateway' | undefined {
  if (isIpAddress(host)) return undefined;
  if (spec.controlPlane.ingress !== undefined) return 'Ingress';
  return spec.controlPlane.gateway === undefined ? undefined : 'Gateway';
}

/**
 * The host that agents dial: that of the control plane, or a second name by which a router distinguishes the two: the author's, or a
 * derived one.
 */
export function agentHost(tcp: TenantControlPlane, endpoint: Endpoint): string {
  const { host } = endpoint;
  return routerOf(tcp, endpoint) === undefined ? host : serverHost(host, namedServer(konnectivityServer, tcp));
}

/**
 * Host and port for agents; undefined while a NodePort Service has no port for them yet. `port` is the konnectivity server's own,
 * `service` as it is stored.
 */
export function agentAddress(
  tcp: TenantControlPlane,
  { endpoint, service, port }: { readonly endpoint: Endpoint; readonly service: Service; readonly port: number },
): AgentAddress | undefined {
  const to = { host: agentHost(tcp, endpoint), byName: !isIpAddress(endpoint.host) };
  const router = routerOf(tcp, endpoint);
  // An Ingress has one port for everything; a Gateway has a listener for the agents.
  if (router === 'Ingress') return { ...to, port: endpoint.hostPort };
  if (router === 'Gateway' || tcp.spec.controlPlane.service.serviceType !== 'NodePort') return { ...to, port };
  const nodePort = service.spec?.ports?.find(({ name }) => name === konnectivityServer.portName)?.nodePort;
  return nodePort === undefined ? undefined : { ...to, port: nodePort };
}

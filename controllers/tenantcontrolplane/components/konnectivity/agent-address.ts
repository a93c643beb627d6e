import type { Service } from '../../../../api/core/kinds.ts';
import { ports } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isIpAddress } from '../../../../kubeadm/networks.ts';
import type { Endpoint } from '../control-plane-input.ts';

/** Where agents reach the konnectivity servers of a control plane. */
export interface AgentAddress {
  readonly host: string;
  readonly port: number;
  /** True when a router chooses by the host name, and that name is resolved outside of the tenant. */
  readonly byName: boolean;
}

/** The host that agents dial: the control plane's own address, or a name beside its name, by which a router tells the two apart. */
export function agentHost({ host }: Endpoint): string {
  return isIpAddress(host) ? host : host.replace('.k8s.', '.konnectivity.');
}

/**
 * Host and port for agents; undefined while a NodePort Service has no port for them yet. `port` is the konnectivity server's own,
 * `service` as it is stored.
 */
export function agentAddress(
  tcp: TenantControlPlane,
  { endpoint, service, port }: { readonly endpoint: Endpoint; readonly service: Service; readonly port: number },
): AgentAddress | undefined {
  const host = agentHost(endpoint);
  const byName = !isIpAddress(endpoint.host);
  // An Ingress has one port for all; a Gateway has a listener for agents.
  if (byName) return { host, port: tcp.spec.controlPlane.gateway === undefined ? endpoint.hostPort : port, byName };
  if (tcp.spec.controlPlane.service.serviceType !== 'NodePort') return { host, port, byName };
  const nodePort = service.spec?.ports?.find(({ name }) => name === ports.konnectivity)?.nodePort;
  return nodePort === undefined ? undefined : { host, port: nodePort, byName };
}

import type { Service } from '../../../../api/core/kinds.ts';
import { ports } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { joinHostPort } from '../../../../kubeadm/networks.ts';
import type { Endpoint } from '../control-plane-input.ts';
import { trustdPort } from './trustd-container.ts';

/** True where a router leads by the name in a TLS connection to a port for trustd. */
function isRouted({ spec: { controlPlane } }: TenantControlPlane): boolean {
  return controlPlane.gateway !== undefined || controlPlane.ingress?.controllerType === 'traefik';
}

/**
 * Where workers reach trustd, as `host:port`; undefined without the add-on, and while a NodePort Service has no port for it yet. An
 * Ingress has one port, which is the API server's: behind one, trustd is reached at the Service.
 */
export function trustdEndpoint(tcp: TenantControlPlane, endpoint: Endpoint, service: Service): string | undefined {
  const port = trustdPort(tcp);
  if (port === undefined) return undefined;
  const { ingress, service: wanted } = tcp.spec.controlPlane;
  if (isRouted(tcp)) return joinHostPort(endpoint.host, port);
  const host = ingress === undefined ? endpoint.host : endpoint.address;
  if (wanted.serviceType !== 'NodePort') return joinHostPort(host, port);
  const nodePort = service.spec?.ports?.find(({ name }) => name === ports.trustdService)?.nodePort;
  return nodePort === undefined ? undefined : joinHostPort(host, nodePort);
}

/** What a person should know of the way to trustd; empty where nothing is in it. */
export function trustdAdvice(tcp: TenantControlPlane): string {
  const { ingress, gateway } = tcp.spec.controlPlane;
  if (ingress === undefined && gateway === undefined) return '';
  const remedy = 'let workers reach the Service itself, e.g. of type LoadBalancer';
  if (!isRouted(tcp)) return `an Ingress does not lead to trustd: ${remedy}`;
  return `Talos dials trustd by address and names no host, so that a router does not know the tenant: ${remedy}`;
}

import type { Service } from '../../../../api/core/kinds.ts';
import { ports, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { joinHostPort } from '../../../../kubeadm/networks.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import type { AddonServer } from '../../shared/addon-server.ts';
import { trustdPort } from './trustd-container.ts';

/** trustd, which workers dial at the addresses and the name of the API server. */
export const trustdServer: AddonServer = {
  portName: ports.trustdService,
  port: trustdPort,
  routeName: (tenant) => tenantObjects(tenant).trustdRoute,
  tlsRouteComponent: 'talos-trustd-gateway',
  traefik: { entryPoint: 'trustd', component: 'talos-trustd-traefik-ingressroutetcp' },
};

/** True if a router leads to the port of trustd by the server name of TLS connections. */
function isRouted({ spec: { controlPlane } }: TenantControlPlane): boolean {
  return controlPlane.gateway !== undefined || controlPlane.ingress?.controllerType === 'traefik';
}

/**
 * Where workers reach trustd, as `host:port`; undefined without the add-on, and while a NodePort Service has no port for it yet.
 * An Ingress has only the API server's port, so trustd is reached at the Service behind it.
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

/** A hint if workers may not be able to reach trustd; otherwise empty. */
export function trustdAdvice(tcp: TenantControlPlane): string {
  const { ingress, gateway } = tcp.spec.controlPlane;
  if (ingress === undefined && gateway === undefined) return '';
  const remedy = 'let workers reach the Service directly, e.g. with type LoadBalancer';
  if (!isRouted(tcp)) return `an Ingress does not route to trustd: ${remedy}`;
  return `Talos dials trustd by IP address without a host name, so a router cannot tell which tenant is meant: ${remedy}`;
}

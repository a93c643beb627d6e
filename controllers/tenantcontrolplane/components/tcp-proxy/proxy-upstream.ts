import { isIpAddress, joinHostPort, splitHostPort } from '../../../../kubeadm/networks.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { isDnsName } from '../../../../kubeadm/san.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Endpoint } from '../control-plane-input.ts';

/** Where the proxy leads its callers. */
export interface ProxyUpstream {
  readonly host: string;
  readonly port: number;
  /**
   * True when a router in between goes by the name that TLS connections ask for. Pods ask for another one, so that the proxy has to
   * end their connections and begin new ones; otherwise it passes through what it gets and sees nothing.
   */
  readonly endsTls: boolean;
}

const field = 'spec.addons.tcpProxy.internalEndpoint';

/** `host:port` as the author gives it, with the port of the API server unless said. Throws `InvalidInputError` for another. */
export function parseInternalEndpoint(
  text: string,
  defaultPort: number,
): { readonly host: string; readonly port: number } {
  const { host, port = defaultPort } = splitHostPort(text, field);
  if (isIpAddress(host) || isDnsName(host)) return { host, port };
  const remedy = 'give host:port where the control plane is reached without a router, e.g. 192.0.2.7:6443';
  throw new InvalidInputError({ field, value: text, reason: 'is neither an address nor a DNS name', remedy });
}

/**
 * Where a proxy must dial; `isRouted` when a router leads to the endpoint in use by its name. Throws `InvalidInputError` for an
 * internal endpoint that is none.
 */
export function proxyUpstream({ spec }: TenantControlPlane, endpoint: Endpoint, isRouted: boolean): ProxyUpstream {
  const { internalEndpoint = '' } = spec.addons.tcpProxy ?? {};
  if (internalEndpoint !== '') return { ...parseInternalEndpoint(internalEndpoint, endpoint.port), endsTls: false };
  return { host: endpoint.host, port: endpoint.hostPort, endsTls: isRouted };
}

/** `host:port` of it. */
export function upstreamText({ host, port }: ProxyUpstream): string {
  return joinHostPort(host, port);
}

import { isIpAddress, joinHostPort, splitHostPort } from '../../../../kubeadm/networks.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { isDnsName } from '../../../../kubeadm/san.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';

/** Where the proxy sends its connections. */
export interface ProxyUpstream {
  readonly host: string;
  readonly port: number;
  /**
   * True when a router in between routes by the server name of TLS connections. Pods send another name, so the proxy has to
   * terminate their connections and open new ones; otherwise it passes the bytes through unread.
   */
  readonly endsTls: boolean;
}

const field = 'spec.addons.tcpProxy.internalEndpoint';

/** Reads the author's `host:port`; the port defaults to that of the API server. Throws `InvalidInputError` for anything else. */
export function parseInternalEndpoint(
  text: string,
  defaultPort: number,
): { readonly host: string; readonly port: number } {
  const { host, port = defaultPort } = splitHostPort(text, field);
  if (isIpAddress(host) || isDnsName(host)) return { host, port };
  const remedy = 'use a host:port that reaches the control plane without a router, e.g. 192.0.2.7:6443';
  throw new InvalidInputError({ field, value: text, reason: 'is neither an IP address nor a DNS name', remedy });
}

/**
 * Where the proxy must dial; `isRouted` when a router leads to the current endpoint by its name. Throws `InvalidInputError` for
 * an invalid internal endpoint.
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

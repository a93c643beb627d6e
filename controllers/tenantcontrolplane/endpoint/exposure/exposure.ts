import { ports as portNames } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { isIpAddress, splitHostPort } from '../../../../kubeadm/networks.ts';
import { isDnsName } from '../../../../kubeadm/san.ts';
import { serverHost } from '../../shared/addon-server.ts';
import type { OpenServer, ServerHostname } from '../../shared/addon-server.ts';

/** What exposes the endpoint of a control plane under a host name, besides its Service. */
export interface Publication {
  readonly by: 'Ingress' | 'IngressRouteTCP' | 'TLSRoute';
  /** Host name that workers and users dial, and that TLS connections name. */
  readonly host: string;
  /** Port that they dial. */
  readonly port: number;
}

const httpsPort = 443;

/** The author's value, which a route needs. */
function given(text: string | undefined, field: string, remedy: string): string {
  if (text !== undefined && text !== '') return text;
  throw new InvalidInputError({ field, reason: 'is missing, but routes need it', remedy });
}

function hostName(text: string, field: string, remedy: string): string {
  // Routers use the server name of TLS connections, and RFC 6066 does not allow addresses there.
  if (isDnsName(text) && !isIpAddress(text)) return text;
  throw new InvalidInputError({ field, value: text, reason: 'is not a single DNS name', remedy });
}

/**
 * How the endpoint is exposed; undefined when there is only its Service. A Gateway listens on `servicePort`, unless the author
 * sets another port; its routes name that port. Throws `InvalidInputError` for a missing or invalid host name.
 */
export function publicationOf(tcp: TenantControlPlane, servicePort: number): Publication | undefined {
  const { ingress, gateway } = tcp.spec.controlPlane;
  if (ingress !== undefined) {
    const field = 'spec.controlPlane.ingress.hostname';
    const remedy = 'use a DNS name such as tenant.k8s.example.org, with a port if it is not 443';
    const { host, port = httpsPort } = splitHostPort(given(ingress.hostname, field, remedy), field);
    const by = ingress.controllerType === 'traefik' ? 'IngressRouteTCP' : 'Ingress';
    return { by, host: hostName(host, field, remedy), port };
  }
  if (gateway === undefined) return undefined;
  const field = 'spec.controlPlane.gateway.hostname';
  const remedy = 'use the one DNS name of this control plane; a wildcard belongs in the listener of the Gateway';
  const host = hostName(given(gateway.hostname, field, remedy), field, remedy);
  return { by: 'TLSRoute', host, port: gateway.port ?? servicePort };
}

/** Name of the listener of a Gateway for the API server. */
export function apiServerListener({ spec }: TenantControlPlane): string {
  return spec.controlPlane.gateway?.sectionName ?? portNames.apiServer;
}

/** The ports of the Service that routes lead to. */
export interface PublishedPorts {
  readonly apiServer: number;
  readonly servers: readonly OpenServer[];
}

/** A host name with the port of the Service that it leads to. */
export interface HostRule {
  readonly host: string;
  readonly port: number;
}

/**
 * The rules of a router with one port for everything. Throws `InvalidInputError` when a server of an add-on has no host name of its
 * own.
 */
export function hostRules({ host }: Publication, ports: PublishedPorts): readonly HostRule[] {
  const others = ports.servers.flatMap((open) => {
    if (open.server.hostname === undefined) return [];
    const own = serverHost(host, open);
    if (own === host) {
      const { field } = open.server.hostname;
      throw open.hostname === undefined
        ? indistinct(host, open.server.hostname)
        : new InvalidInputError(sameName(field, host));
    }
    return [{ host: own, port: open.port }];
  });
  return [{ host, port: ports.apiServer }, ...others];
}

/** The validation error for an author's host name of a server that leads to the API server. */
export function sameName(field: string, host: string): InvalidInput {
  const reason = 'is the host name of the control plane itself, or was until all clients have switched';
  return { field, value: host, reason, remedy: 'use a host name that nothing else uses' };
}

/** The validation error for a host name that both a server and the API server would need. */
function indistinct(host: string, { subdomain, field }: ServerHostname): InvalidInputError {
  return new InvalidInputError({
    field: 'spec.controlPlane.ingress.hostname',
    value: host,
    reason: `does not contain .k8s., so ${subdomain}, which is reached through the same port, has no name of its own`,
    remedy: `set ${field}, or use a name such as tenant.k8s.example.org: its clients then dial tenant.${subdomain}.example.org`,
  });
}

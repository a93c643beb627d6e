import { ports as portNames } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress, splitHostPort } from '../../../kubeadm/networks.ts';
import { isDnsName } from '../../../kubeadm/san.ts';

/** What publishes the endpoint of a control plane under a host name, besides its Service. */
export interface Publication {
  readonly by: 'Ingress' | 'IngressRouteTCP' | 'TLSRoute';
  /** Host name that workers and users dial, and that TLS connections name. */
  readonly host: string;
  /** Port that they dial. */
  readonly port: number;
}

const httpsPort = 443;

/** What the author gave; a route cannot go without. */
function given(text: string | undefined, field: string, remedy: string): string {
  if (text !== undefined && text !== '') return text;
  throw new InvalidInputError({ field, reason: 'is missing, and routes go by it', remedy });
}

function hostName(text: string, field: string, remedy: string): string {
  // Routers go by the name that a TLS connection asks for, and RFC 6066 allows no addresses there.
  if (isDnsName(text) && !isIpAddress(text)) return text;
  throw new InvalidInputError({ field, value: text, reason: 'is not a single DNS name', remedy });
}

/**
 * How the endpoint is published; undefined when its Service is all there is. A Gateway listens on `servicePort`, unless the
 * author names another port; its routes name that. Throws `InvalidInputError` for a host name that is missing or none.
 */
export function publicationOf(tcp: TenantControlPlane, servicePort: number): Publication | undefined {
  const { ingress, gateway } = tcp.spec.controlPlane;
  if (ingress !== undefined) {
    const field = 'spec.controlPlane.ingress.hostname';
    const remedy = 'give a DNS name such as tenant.k8s.example.org, with a port where that is not 443';
    const { host, port = httpsPort } = splitHostPort(given(ingress.hostname, field, remedy), field);
    const by = ingress.controllerType === 'traefik' ? 'IngressRouteTCP' : 'Ingress';
    return { by, host: hostName(host, field, remedy), port };
  }
  if (gateway === undefined) return undefined;
  const field = 'spec.controlPlane.gateway.hostname';
  const remedy = 'give the one DNS name of this control plane; a wildcard belongs in the listener of the Gateway';
  const host = hostName(given(gateway.hostname, field, remedy), field, remedy);
  return { by: 'TLSRoute', host, port: gateway.port ?? servicePort };
}

/** Name of the listener of a Gateway that leads to the API server. */
export function apiServerListener({ spec }: TenantControlPlane): string {
  return spec.controlPlane.gateway?.sectionName ?? portNames.apiServer;
}

/** The host name under which the agents of konnectivity dial their server: with `.konnectivity.` for the first `.k8s.`. */
export function konnectivityHost(host: string): string {
  return host.replace('.k8s.', '.konnectivity.');
}

/** The ports of the Service that routes lead to. */
export interface PublishedPorts {
  readonly apiServer: number;
  /** Absent where the Service has no port for konnectivity. */
  readonly konnectivity?: number | undefined;
  /** Absent where the Service has no port for trustd. */
  readonly trustd?: number | undefined;
}

/** A host name with the port of the Service that it leads to. */
export interface HostRule {
  readonly host: string;
  readonly port: number;
}

/**
 * What a router leads where that has one port for everything. Throws `InvalidInputError` when konnectivity has no host name
 * of its own to be told apart by.
 */
export function hostRules({ host }: Publication, ports: PublishedPorts): readonly HostRule[] {
  const rule = { host, port: ports.apiServer };
  if (ports.konnectivity === undefined) return [rule];
  const agents = konnectivityHost(host);
  if (agents === host) throw indistinct(host);
  return [rule, { host: agents, port: ports.konnectivity }];
}

/** The complaint about a host name that konnectivity would have to share. */
function indistinct(host: string): InvalidInputError {
  return new InvalidInputError({
    field: 'spec.controlPlane.ingress.hostname',
    value: host,
    reason: 'has no part .k8s., so that konnectivity, which is reached through the same port, has no name of its own',
    remedy: 'give a name such as tenant.k8s.example.org: the agents dial tenant.konnectivity.example.org then',
  });
}

import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress, splitHostPort } from '../../../kubeadm/networks.ts';
import { namedServer, openServers, serverHost } from '../shared/addon-server.ts';
import type { AddonServer, NamedServer } from '../shared/addon-server.ts';
import { publicationOf } from './exposure/exposure.ts';
import type { Publication } from './exposure/exposure.ts';
import { gatewayKeys, gatewayName } from './exposure/route-status.ts';

/** How a router exposes a control plane; undefined when none does, or the spec is invalid. */
function publicationIn(tcp: TenantControlPlane): Publication | undefined {
  try {
    return publicationOf(tcp, tcp.spec.networkProfile.port);
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/** The wanted host name, and the current one while the endpoint changes. */
function hostsOf({ status }: TenantControlPlane, { host }: Publication): readonly string[] {
  const recorded = status?.controlPlaneEndpoint ?? '';
  if (recorded === '') return [host];
  const inUse = splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
  return isIpAddress(inUse) || inUse === host ? [host] : [host, inUse];
}

/** The host names of the API server behind a router: the wanted one, and the current one while the endpoint changes. */
export function apiServerHosts(tcp: TenantControlPlane): readonly string[] {
  const publication = publicationIn(tcp);
  return publication === undefined ? [] : hostsOf(tcp, publication);
}

/** The host names of a server: those for the host names of the API server, and the one that its clients dial. */
function serverHosts(tcp: TenantControlPlane, hosts: readonly string[], named: NamedServer): readonly string[] {
  const wanted = hosts.map((host) => serverHost(host, named));
  const dialed = named.server.hostname?.dialed(tcp)?.host;
  return dialed === undefined || isIpAddress(dialed) ? wanted : [...wanted, dialed];
}

/** A claim to a host name of shared routers. */
interface HostClaim {
  readonly host: string;
  /** Where the host name is claimed: two claims compete if this is the same. */
  readonly where: string;
}

/**
 * What a control plane claims of shared routers: for Ingresses, a host name on all routers, since one of them may serve several
 * classes; for a Gateway, a host name at a port.
 */
function claimsOf(tcp: TenantControlPlane, servers: readonly AddonServer[]): readonly HostClaim[] {
  const publication = publicationIn(tcp);
  if (publication === undefined) return [];
  const hosts = hostsOf(tcp, publication);
  const ends = [
    ...hosts.map((host) => ({ host, port: publication.port })),
    ...openServers(servers, tcp).flatMap((open) =>
      serverHosts(tcp, hosts, open).map((host) => ({ host, port: open.port })),
    ),
  ];
  if (publication.by !== 'TLSRoute') return ends.map(({ host }) => ({ host, where: `Ingress ${host}` }));
  return gatewayKeys(tcp).flatMap((key) =>
    ends.map(({ host, port }) => ({ host, where: `Gateway ${gatewayName(key)} ${host}:${port}` })),
  );
}

/** The claims of a control plane, in a form that can be compared. */
export function hostClaims(tcp: TenantControlPlane, servers: readonly AddonServer[]): readonly string[] {
  return [...new Set(claimsOf(tcp, servers).map(({ where }) => where))];
}

/** The host names that both control planes claim in one place. */
export function contestedHosts(
  tcp: TenantControlPlane,
  other: TenantControlPlane,
  servers: readonly AddonServer[],
): readonly string[] {
  const others = new Set(hostClaims(other, servers));
  const contested = claimsOf(tcp, servers).filter(({ where }) => others.has(where));
  return [...new Set(contested.map(({ host }) => host))];
}

/** The host names by which routers lead to a control plane: the wanted ones and those still in use. */
export function hostNames(tcp: TenantControlPlane, servers: readonly AddonServer[]): readonly string[] {
  const publication = publicationIn(tcp);
  if (publication === undefined) return [];
  const hosts = hostsOf(tcp, publication);
  return [...hosts, ...servers.flatMap((server) => serverHosts(tcp, hosts, namedServer(server, tcp)))];
}

/** Whether both are the same control plane, possibly in different states. */
export const isSame = (one: TenantControlPlane, other: TenantControlPlane): boolean =>
  one.metadata.namespace === other.metadata.namespace && one.metadata.name === other.metadata.name;

/** Those among `others` that claim something which `tcp` claims, too. */
export function rivals(
  tcp: TenantControlPlane,
  others: readonly TenantControlPlane[],
  servers: readonly AddonServer[],
): readonly TenantControlPlane[] {
  const claims = new Set(hostClaims(tcp, servers));
  if (claims.size === 0) return [];
  return others.filter((other) => !isSame(tcp, other) && hostClaims(other, servers).some((claim) => claims.has(claim)));
}

/** The order in which claims count: the older object first, then the smaller UID. */
function seniority({ metadata }: TenantControlPlane): string {
  return `${metadata.creationTimestamp ?? '9999'} ${metadata.uid}`;
}

/** The control planes to which this one must leave host names, in the order in which their claims count. */
export function seniorRivals(
  tcp: TenantControlPlane,
  others: readonly TenantControlPlane[],
  servers: readonly AddonServer[],
): readonly TenantControlPlane[] {
  const own = seniority(tcp);
  return rivals(tcp, others, servers)
    .filter((other) => seniority(other) < own)
    .sort((a, b) => (seniority(a) < seniority(b) ? -1 : 1));
}

/**
 * The rival, for readers of `tcp`: names in other namespaces are not shown, since guessing host names would reveal who else is in
 * the cluster.
 */
export function rivalWords(tcp: TenantControlPlane, rival: TenantControlPlane): string {
  const isNear = tcp.metadata.namespace === rival.metadata.namespace;
  return isNear ? `TenantControlPlane ${rival.metadata.name}` : 'a TenantControlPlane in another namespace';
}

import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress, splitHostPort } from '../../../kubeadm/networks.ts';
import { openServers, serverHost } from '../shared/addon-server.ts';
import type { AddonServer } from '../shared/addon-server.ts';
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

/** The wanted host names, and the current one while the endpoint changes. */
function hostsOf({ status }: TenantControlPlane, { host }: Publication): readonly string[] {
  const recorded = status?.controlPlaneEndpoint ?? '';
  if (recorded === '') return [host];
  const inUse = splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
  return isIpAddress(inUse) || inUse === host ? [host] : [host, inUse];
}

/**
 * What a control plane claims of shared routers: for Ingresses, a host name on all routers, since one of them may serve several
 * classes; for a Gateway, a host name at a port.
 */
export function hostClaims(tcp: TenantControlPlane, servers: readonly AddonServer[]): readonly string[] {
  const publication = publicationIn(tcp);
  if (publication === undefined) return [];
  const open = openServers(servers, tcp);
  const hosts = hostsOf(tcp, publication);
  if (publication.by !== 'TLSRoute') {
    const all = hosts.flatMap((host) => [host, ...open.map(({ server }) => serverHost(host, server))]);
    return [...new Set(all)].map((host) => `Ingress ${host}`);
  }
  const ends = hosts.flatMap((host) => [
    `${host}:${publication.port}`,
    ...open.map(({ server, port }) => `${serverHost(host, server)}:${port}`),
  ]);
  return gatewayKeys(tcp).flatMap((key) => ends.map((end) => `Gateway ${gatewayName(key)} ${end}`));
}

/** The host names by which routers lead to a control plane: the wanted ones and those still in use. */
export function hostNames(tcp: TenantControlPlane, servers: readonly AddonServer[]): readonly string[] {
  const publication = publicationIn(tcp);
  if (publication === undefined) return [];
  return hostsOf(tcp, publication).flatMap((host) => [host, ...servers.map((server) => serverHost(host, server))]);
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

/** The control plane to which this one must leave the host name, if any. */
export function seniorRival(
  tcp: TenantControlPlane,
  others: readonly TenantControlPlane[],
  servers: readonly AddonServer[],
): TenantControlPlane | undefined {
  const own = seniority(tcp);
  const [first] = rivals(tcp, others, servers)
    .filter((other) => seniority(other) < own)
    .sort((a, b) => (seniority(a) < seniority(b) ? -1 : 1));
  return first;
}

/**
 * The rival, for readers of `tcp`: names in other namespaces are not shown, since guessing host names would reveal who else is in
 * the cluster.
 */
export function rivalWords(tcp: TenantControlPlane, rival: TenantControlPlane): string {
  const isNear = tcp.metadata.namespace === rival.metadata.namespace;
  return isNear ? `TenantControlPlane ${rival.metadata.name}` : 'a TenantControlPlane in another namespace';
}

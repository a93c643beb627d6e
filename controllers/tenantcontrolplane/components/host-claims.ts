import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress, splitHostPort } from '../../../kubeadm/networks.ts';
import { konnectivityHost, publicationOf } from './publication.ts';
import type { Publication } from './publication.ts';
import { trustdPort } from './worker-bootstrap/trustd-container.ts';
import { gatewayKeys, gatewayName } from './route-verdict.ts';

/** How a control plane is published by a router; undefined when it is not, or cannot be. */
function publicationIn(tcp: TenantControlPlane): Publication | undefined {
  try {
    return publicationOf(tcp, tcp.spec.networkProfile.port);
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/** The host names that are wanted, and the one that is still in use while the endpoint changes. */
function hostsOf({ status }: TenantControlPlane, { host }: Publication): readonly string[] {
  const recorded = status?.controlPlaneEndpoint ?? '';
  if (recorded === '') return [host];
  const inUse = splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
  return isIpAddress(inUse) || inUse === host ? [host] : [host, inUse];
}

/**
 * What a control plane claims of the routers that lead many: a host name of all that serve Ingresses, since one of them may serve
 * several classes; of a Gateway a host name at a port.
 */
export function hostClaims(tcp: TenantControlPlane): readonly string[] {
  const { ingress, gateway } = tcp.spec.controlPlane;
  if (ingress === undefined && gateway === undefined) return [];
  const publication = publicationIn(tcp);
  if (publication === undefined) return [];
  const agents = tcp.spec.addons.konnectivity?.server.port;
  const trustd = trustdPort(tcp);
  const hosts = hostsOf(tcp, publication);
  if (publication.by !== 'TLSRoute') {
    const all = hosts.flatMap((host) => (agents === undefined ? [host] : [host, konnectivityHost(host)]));
    return all.map((host) => `Ingress ${host}`);
  }
  const ends = hosts.flatMap((host) => [
    `${host}:${publication.port}`,
    ...(agents === undefined ? [] : [`${konnectivityHost(host)}:${agents}`]),
    ...(trustd === undefined ? [] : [`${host}:${trustd}`]),
  ]);
  return gatewayKeys(tcp).flatMap((key) => ends.map((end) => `Gateway ${gatewayName(key)} ${end}`));
}

/** The host names by which routers lead to a control plane: what it wants, and what is still in use. */
export function hostNames(tcp: TenantControlPlane): readonly string[] {
  const publication = publicationIn(tcp);
  if (publication === undefined) return [];
  return hostsOf(tcp, publication).flatMap((host) => [host, konnectivityHost(host)]);
}

/** Whether two are the same control plane, in other states perhaps. */
export const isSame = (one: TenantControlPlane, other: TenantControlPlane): boolean =>
  one.metadata.namespace === other.metadata.namespace && one.metadata.name === other.metadata.name;

/** Those among `others` that claim something which this one claims too. */
export function rivals(tcp: TenantControlPlane, others: readonly TenantControlPlane[]): readonly TenantControlPlane[] {
  const claims = new Set(hostClaims(tcp));
  if (claims.size === 0) return [];
  return others.filter((other) => !isSame(tcp, other) && hostClaims(other).some((claim) => claims.has(claim)));
}

/** The order in which claims count: the older object first, then the smaller UID. */
function seniority({ metadata }: TenantControlPlane): string {
  return `${metadata.creationTimestamp ?? '9999'} ${metadata.uid ?? ''}`;
}

/** The one to which this one has to give way, if any. */
export function seniorRival(
  tcp: TenantControlPlane,
  others: readonly TenantControlPlane[],
): TenantControlPlane | undefined {
  const own = seniority(tcp);
  const [first] = rivals(tcp, others)
    .filter((other) => seniority(other) < own)
    .sort((a, b) => (seniority(a) < seniority(b) ? -1 : 1));
  return first;
}

/**
 * Who it is, for those who may read `tcp`: names of another namespace are not theirs to know, since whoever guesses host names
 * would learn who else is here.
 */
export function rivalWords(tcp: TenantControlPlane, rival: TenantControlPlane): string {
  const isNear = tcp.metadata.namespace === rival.metadata.namespace;
  return isNear ? `TenantControlPlane ${rival.metadata.name ?? ''}` : 'a TenantControlPlane of another namespace';
}

import { annotations as ownAnnotations, stewardGroup } from '../../../../api/names.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { contains, isIpAddress } from '../../../../kubeadm/networks.ts';
import type { Reach } from './reach.ts';
import { reachingAnnotations } from './reaching-annotations.ts';
import { usualAnnotations } from './usual-annotations.ts';

/** The annotations of external-dns that request DNS names for a Service. */
export const dnsNameKeys: readonly string[] = [
  'external-dns.alpha.kubernetes.io/hostname',
  'external-dns.alpha.kubernetes.io/internal-hostname',
];
const requestedIps = /^kube-vip\.io\/(loadbalancerIPs|loadbalancerHostname)$/;

/** An annotation that an author wants on an object of a control plane. */
export interface WantedAnnotation {
  readonly key: string;
  readonly value: string;
  /** True for a Deployment and its pods: only some annotations there are known to reach beyond the namespace. */
  readonly isOnPods?: boolean;
  /** Host names and alternative names that the control plane has. */
  readonly names: ReadonlySet<string>;
}

type Problem = Pick<InvalidInput, 'reason' | 'remedy'>;

/** The entries of a list in an annotation's value. */
export function entriesOf(value: string): readonly string[] {
  return value
    .split(',')
    .map((entry) => entry.trim().toLowerCase().replace(/\.$/, ''))
    .filter((entry) => entry !== '');
}

const nameIt = (key: string): string => `remove it, or ask the operator to allow it with --allow-annotations=${key}`;

/** Annotations whose value decides how far they reach. */
function valueProblem({ key, value, names }: WantedAnnotation, reach: Reach): Problem | undefined {
  if (dnsNameKeys.includes(key)) {
    const foreign = entriesOf(value).find((name) => !names.has(name));
    if (foreign === undefined) return undefined;
    const reason = `requests the DNS name ${foreign}, which is neither the host name of this control plane nor one of its certSANs`;
    const remedy = 'add it to spec.networkProfile.certSANs if it belongs to this control plane, or remove it';
    return { reason, remedy };
  }
  if (requestedIps.test(key)) {
    // 0.0.0.0 and the like request an address from DHCP.
    const taken = entriesOf(value).find((entry) => !isFree(entry, reach));
    if (taken === undefined) return undefined;
    const reason = `makes every node answer for ${taken}, whoever owns that address`;
    return { reason, remedy: 'remove it, or ask the operator for --allow-external-ips=<CIDR>' };
  }
  return undefined;
}

function isFree(address: string, { externalIps }: Reach): boolean {
  if (address === '0.0.0.0' || address === '::') return true;
  return isIpAddress(address) && externalIps.some((network) => contains(network, address));
}

const isCovered = (key: string, by: readonly string[]): boolean =>
  by.some((entry) => entry === '*' || entry === key || (entry.endsWith('/') && key.startsWith(entry)));

/** Steward's own keys mean something to the manager; only what a StewardControlPlane passes on is accepted from a spec. */
function isOurs(key: string): boolean {
  const domain = key.split('/')[0] ?? '';
  const isOwnDomain = domain === stewardGroup || domain.endsWith(`.${stewardGroup}`);
  return key.includes('/') && isOwnDomain && key !== ownAnnotations.rolloutAfter;
}

/**
 * Why an annotation is not allowed on an object of a control plane. Routers, load balancers and DNS controllers serve all
 * namespaces and act on annotations: anyone who may write annotations controls them. A key without a domain is private to
 * its author: no component of a cluster may read it
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/). On pods every domain is usual, since
 * authors annotate them for their own tools: only keys that are known to reach beyond the namespace are refused.
 */
export function annotationProblem(wanted: WantedAnnotation, reach: Reach): Problem | undefined {
  const { key, isOnPods = false } = wanted;
  if (isOurs(key)) return { reason: 'is an annotation that only the manager may set', remedy: 'remove it' };
  if (reach.annotations.includes(key)) return undefined;
  const reaching = reachingAnnotations.find(({ keys }) => keys.test(key));
  if (reaching !== undefined) return { reason: reaching.reason, remedy: nameIt(key) };
  const problem = valueProblem(wanted, reach);
  if (problem !== undefined) return problem;
  const isPrivate = !key.includes('/');
  if (isPrivate || isOnPods || key === ownAnnotations.rolloutAfter) return undefined;
  if (isCovered(key, usualAnnotations) || isCovered(key, reach.annotations)) return undefined;
  const domain = `${key.split('/')[0] ?? ''}/`;
  return {
    reason: 'is not in an allowed domain, and it is unknown what reads it',
    remedy: `remove it, or ask the operator to start the manager with --allow-annotations=${domain}`,
  };
}

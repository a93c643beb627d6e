import ipaddr from 'ipaddr.js';

/** The addresses and link names of one harness. All ranges are IPv4 CIDRs. */
export interface NetworkPlan {
  /** Which of the possible networks this is: 0 to 31. */
  readonly index: number;
  /** Name of the bridge on the host. */
  readonly bridge: string;
  /** The machines' network; its first address is the bridge. */
  readonly machines: string;
  /** Address of the bridge: the host as the machines see it. */
  readonly gateway: string;
  /** Pods of the management cluster. */
  readonly pods: string;
  /** Services of the management cluster. */
  readonly services: string;
  /** Addresses for Services of type LoadBalancer. */
  readonly loadBalancers: string;
}

/** How many harnesses can stand side by side on one host. */
export const networkCount = 32;

/** Last octets that machines may get: the management machine gets the first. */
export const machineOctets = { first: 10, last: 250 } as const;

/** The network with this index. Ranges of different indices never overlap. */
export function planNetwork(index: number): NetworkPlan {
  if (!Number.isInteger(index) || index < 0 || index >= networkCount) {
    throw new RangeError(`network index ${index}: a whole number from 0 to ${networkCount - 1} is needed`);
  }
  return {
    index,
    bridge: `stw${index}`,
    machines: `172.30.${index}.0/24`,
    gateway: `172.30.${index}.1`,
    pods: `10.${160 + index}.0.0/16`,
    services: `10.${192 + index}.0.0/16`,
    loadBalancers: `172.31.${index}.0/24`,
  };
}

/** Address of the machine with this last octet. */
export function machineAddress(plan: NetworkPlan, octet: number): string {
  return plan.gateway.replace(/\.1$/, `.${octet}`);
}

/** Host end of the virtual cable to that machine; at most 15 characters, as the kernel wants. */
export function machineLink(plan: NetworkPlan, octet: number): string {
  return `${plan.bridge}m${octet}`;
}

/** The ranges that the host must route for this plan. */
export function plannedRanges(plan: NetworkPlan): readonly string[] {
  return [plan.machines, plan.pods, plan.services, plan.loadBalancers];
}

/** Whether two IPv4 ranges share an address. */
export function rangesOverlap(a: string, b: string): boolean {
  const [first, firstBits] = ipaddr.IPv4.parseCIDR(a);
  const [second, secondBits] = ipaddr.IPv4.parseCIDR(b);
  const bits = Math.min(firstBits, secondBits);
  return first.match(second, bits);
}

/**
 * Network indices in the order in which to try them. First those that touch no range of the host at all; then those
 * that lie inside a wider range of the host (say, a VPN's 10.0.0.0/8), whose own addresses stay reachable except for
 * ours. Indices that would hide or be hidden by a range of the host are left out.
 */
export function usableNetworks(hostRanges: readonly string[]): readonly number[] {
  const free: number[] = [];
  const inside: number[] = [];
  for (let index = 0; index < networkCount; index += 1) {
    const conflicts = plannedRanges(planNetwork(index)).flatMap((range) =>
      hostRanges.filter((host) => rangesOverlap(range, host)).map((host) => ({ range, host })),
    );
    if (conflicts.length === 0) free.push(index);
    else if (conflicts.every(({ range, host }) => prefixBits(host) < prefixBits(range))) inside.push(index);
  }
  return [...free, ...inside];
}

function prefixBits(range: string): number {
  return ipaddr.IPv4.parseCIDR(range)[1];
}

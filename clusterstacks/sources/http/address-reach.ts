import ipaddr from 'ipaddr.js';

/**
 * From where an address can be reached: by everyone, only inside a private network, only from its own link (where clouds give machines
 * their credentials), or only from its own machine.
 */
export type Reach = 'public' | 'private' | 'link' | 'machine';

/** Metadata services that are at no link-local address: of Alibaba, of Azure, and of AWS over IPv6. */
const metadataServices: ReadonlySet<string> = new Set(['100.100.100.200', '168.63.129.16', 'fd00:ec2::254']);

/** By the names that `ipaddr.js` has for the ranges of IANA's registries; all others are `link`. */
const reaches: ReadonlyMap<string, Reach> = new Map([
  ['unicast', 'public'],
  ['loopback', 'machine'],
  ['unspecified', 'machine'],
  ['private', 'private'],
  ['uniqueLocal', 'private'],
  ['carrierGradeNat', 'private'],
]);

/**
 * The reach of an IPv4 or IPv6 address; an address that contains an IPv4 address has the reach of that one. An invalid or unusable
 * address counts as `link`, which is not allowed.
 */
export function reachOf(address: string): Reach {
  if (!ipaddr.isValid(address)) return 'link';
  const parsed = inner(ipaddr.process(address));
  if (metadataServices.has(parsed.toString())) return 'link';
  return reaches.get(parsed.range()) ?? 'link';
}

/** The IPv4 address that a translated or tunnelled one leads to (RFC 6052, RFC 3056). */
function inner(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const bytes = address.toByteArray();
  const range = address.range();
  if (range === 'rfc6052') return new ipaddr.IPv4(bytes.slice(12));
  return range === '6to4' ? new ipaddr.IPv4(bytes.slice(2, 6)) : address;
}

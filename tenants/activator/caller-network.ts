import { plainAddress } from './plain-address.ts';

/** What a single machine of IPv6 has all addresses of, in groups of 16 bits. */
const groupsOfNetwork = 4;
const groupsOfAddress = 8;

/** Whom a connection counts for: its address, and with IPv6 the network of 64 bits, in which one machine can have any address. */
export function callerNetwork(peer: string | undefined): string {
  const read = plainAddress(peer ?? '');
  if (read === undefined) return peer ?? '';
  if (read.family === 'ipv4') return read.address;
  const [address = ''] = read.address.split('%');
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(groupsOfAddress - head.length - tail.length, 0)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, groupsOfNetwork).join(':');
}

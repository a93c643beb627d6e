import { isIP } from 'node:net';

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An address as its family writes it. */
export interface PlainAddress {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
}

/** Reads an address: sockets of both families show IPv4 addresses as part of IPv6. Undefined for what is none. */
export function plainAddress(address: string): PlainAddress | undefined {
  const shown = mapped.exec(address)?.[1] ?? address;
  const family = isIP(shown);
  return family === 0 ? undefined : { address: shown, family: family === 4 ? 'ipv4' : 'ipv6' };
}

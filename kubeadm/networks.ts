import ipaddr from 'ipaddr.js';
import { InvalidInputError } from './invalid-input-error.ts';

/** An IPv4 or IPv6 network as numbers. */
export interface Network {
  readonly family: 4 | 6;
  /** The first address, host bits cleared. */
  readonly base: bigint;
  /** Prefix length in bits. */
  readonly prefix: number;
}

const bits = { 4: 32, 6: 128 } as const;

function toBigInt(bytes: readonly number[]): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

/** Canonical text of an address (RFC 5952 for IPv6). */
function toText(family: 4 | 6, value: bigint): string {
  const bytes: number[] = [];
  for (let shift = BigInt(bits[family]) - 8n; shift >= 0n; shift -= 8n) bytes.push(Number((value >> shift) & 0xffn));
  const address = ipaddr.fromByteArray(bytes);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

// The library reports invalid addresses by throwing and catching errors, which is slow for host names.
const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** IPv4 in four decimal parts without leading zeros, or IPv6 without a zone, like Go's net.ParseIP. */
function readAddress(text: string): Address | undefined {
  if (ipv4.test(text)) return { family: 4, value: toBigInt(text.split('.').map(Number)) };
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined;
  // The library treats the old form ::192.0.2.1 as a mapped address; it is an IPv6 address of its own.
  const compatible = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (compatible !== undefined) {
    const inner = readAddress(compatible);
    return inner === undefined ? undefined : { family: 6, value: inner.value };
  }
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) {
    return { family: 4, value: toBigInt(address.toIPv4Address().toByteArray()) };
  }
  return { family: 6, value: toBigInt(address.toByteArray()) };
}

/** Whether `text` is an IPv4 or IPv6 address. */
export function isIpAddress(text: string): boolean {
  return readAddress(text) !== undefined;
}

/** The canonical text of an address, so that different spellings become equal; undefined when `text` is not an address. */
export function canonicalIp(text: string): string | undefined {
  const address = readAddress(text);
  return address === undefined ? undefined : toText(address.family, address.value);
}

/** Reads `address/prefix`; host bits are cleared. Throws `InvalidInputError` naming `field`. */
export function parseCidr(text: string, field: string): Network {
  const fail = (reason: string): InvalidInputError =>
    new InvalidInputError({
      field,
      value: text,
      reason,
      remedy: 'use a network such as 10.96.0.0/16 or fd00:10:96::/112',
    });
  const [address, prefixText, ...rest] = text.split('/');
  if (address === undefined || prefixText === undefined || rest.length > 0)
    throw fail('is not of the form address/prefix');
  const read = readAddress(address);
  if (read === undefined) throw fail('does not begin with an IPv4 or IPv6 address');
  if (read.family === 4 && address.includes(':')) throw fail('is an IPv4 network written as IPv6');
  const width = bits[read.family];
  if (!/^(0|[1-9]\d{0,2})$/.test(prefixText) || Number(prefixText) > width) {
    throw fail(`needs a prefix length between 0 and ${width}`);
  }
  const prefix = Number(prefixText);
  const hostBits = BigInt(width - prefix);
  return { family: read.family, base: (read.value >> hostBits) << hostBits, prefix };
}

/** The canonical `address/prefix` of a network. */
export function cidrText(network: Network): string {
  return `${toText(network.family, network.base)}/${network.prefix}`;
}

/**
 * One network, or two of different families joined by a comma (dual stack), in the order given.
 * Throws `InvalidInputError` naming `field`.
 */
export function parseCidrs(text: string, field: string): readonly [Network] | readonly [Network, Network] {
  const [first, second, ...rest] = text.split(',').map((part) => parseCidr(part.trim(), field));
  if (first === undefined || rest.length > 0) {
    const remedy = 'use one network, or one IPv4 and one IPv6 network separated by a comma';
    throw new InvalidInputError({ field, value: text, reason: 'names more than two networks', remedy });
  }
  if (second === undefined) return [first];
  if (first.family === second.family) {
    const remedy = 'use one IPv4 and one IPv6 network';
    throw new InvalidInputError({ field, value: text, reason: `names two IPv${first.family} networks`, remedy });
  }
  return [first, second];
}

/** The `n`-th address of a network, the base being the zeroth. Throws `InvalidInputError` naming `field` when the network is smaller. */
export function addressAt(network: Network, n: bigint, field: string): string {
  const size = 1n << BigInt(bits[network.family] - network.prefix);
  if (n < 0n || n >= size) {
    const reason = `has ${size} addresses, but address ${n} is needed`;
    throw new InvalidInputError({ field, value: cidrText(network), reason, remedy: 'use a larger network' });
  }
  return toText(network.family, network.base + n);
}

/** Whether `address` is in `network`. False for text that is not an address, and for the other family. */
export function contains(network: Network, address: string): boolean {
  const read = readAddress(address);
  if (read?.family !== network.family) return false;
  const hostBits = BigInt(bits[network.family] - network.prefix);
  return read.value >> hostBits === network.base >> hostBits;
}

/** Whether two networks share an address. */
export function overlaps(a: Network, b: Network): boolean {
  if (a.family !== b.family) return false;
  const hostBits = BigInt(bits[a.family] - Math.min(a.prefix, b.prefix));
  return a.base >> hostBits === b.base >> hostBits;
}

/** The address of the `kubernetes` Service: the first after the base of the first service network. */
export function firstServiceIp(serviceCidr: string, field = 'serviceCidr'): string {
  return addressAt(parseCidrs(serviceCidr, field)[0], 1n, field);
}

/** The DNS Service's address as kubeadm chooses it: the tenth of the first service network. */
export function defaultDnsServiceIp(serviceCidr: string, field = 'serviceCidr'): string {
  return addressAt(parseCidrs(serviceCidr, field)[0], 10n, field);
}

/** The DNS Service's addresses: the given ones, or the default; each must be in a service network. Throws `InvalidInputError`. */
export function dnsServiceIps(serviceCidr: string, given: readonly string[] = []): readonly string[] {
  if (given.length === 0) return [defaultDnsServiceIp(serviceCidr)];
  const networks = parseCidrs(serviceCidr, 'serviceCidr');
  return given.map((address) => {
    const canonical = canonicalIp(address);
    const field = 'dnsServiceIPs';
    if (canonical === undefined) {
      throw new InvalidInputError({
        field,
        value: address,
        reason: 'is not an IP address',
        remedy: 'use an address of the service network',
      });
    }
    if (!networks.some((network) => contains(network, canonical))) {
      const reason = `is outside the service network ${serviceCidr}`;
      throw new InvalidInputError({
        field,
        value: address,
        reason,
        remedy: 'use an address inside it, or leave the field empty',
      });
    }
    return canonical;
  });
}

/** `host:port` with brackets around an IPv6 host. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Splits `host:port`, `[v6]:port` or a bare host. Throws `InvalidInputError` naming `field`. */
export function splitHostPort(text: string, field: string): { readonly host: string; readonly port?: number } {
  if (isIpAddress(text)) return { host: text };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (host === undefined || (port !== undefined && (port < 1 || port > 65535))) {
    const remedy = 'use host:port with a port between 1 and 65535, and an IPv6 host in brackets';
    throw new InvalidInputError({ field, value: text, reason: 'is not an endpoint', remedy });
  }
  return port === undefined ? { host } : { host, port };
}

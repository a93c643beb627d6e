import { BlockList, isIP } from 'node:net';

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An address as its family writes it: sockets of both families show IPv4 addresses as part of IPv6. */
function plain(address: string): { readonly address: string; readonly family: 'ipv4' | 'ipv6' } | undefined {
  const shown = mapped.exec(address)?.[1] ?? address;
  const family = isIP(shown);
  return family === 0 ? undefined : { address: shown, family: family === 4 ? 'ipv4' : 'ipv6' };
}

/** Addresses and networks of callers. */
export class CallerAddresses {
  readonly #list = new BlockList();

  /** What is no address is left out: tenants write those of their nodes. Throws for what is no network. */
  constructor({
    addresses = [],
    networks = [],
  }: {
    readonly addresses?: readonly string[];
    readonly networks?: readonly string[];
  }) {
    for (const one of addresses) {
      const read = plain(one);
      if (read !== undefined) this.#list.addAddress(read.address, read.family);
    }
    for (const network of networks) {
      const [address = '', length = ''] = network.split('/');
      const read = plain(address);
      const most = read?.family === 'ipv4' ? 32 : 128;
      if (read === undefined || !/^\d{1,3}$/.test(length) || Number(length) > most)
        throw new RangeError(`"${network}" is not a network such as 10.0.0.0/8`);
      this.#list.addSubnet(read.address, Number(length), read.family);
    }
  }

  /** True if the address of a socket's peer is one of them. */
  has(peer: string | undefined): boolean {
    const read = plain(peer ?? '');
    return read !== undefined && this.#list.check(read.address, read.family);
  }
}

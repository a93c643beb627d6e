import { BlockList } from 'node:net';
import { plainAddress } from './plain-address.ts';

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
      const read = plainAddress(one);
      if (read !== undefined) this.#list.addAddress(read.address, read.family);
    }
    for (const network of networks) {
      const [address = '', length = ''] = network.split('/');
      const read = plainAddress(address);
      const most = read?.family === 'ipv4' ? 32 : 128;
      if (read === undefined || !/^\d{1,3}$/.test(length) || Number(length) > most)
        throw new RangeError(`"${network}" is not a network such as 10.0.0.0/8`);
      this.#list.addSubnet(read.address, Number(length), read.family);
    }
  }

  /** True if the address of a socket's peer is one of them. */
  has(peer: string | undefined): boolean {
    const read = plainAddress(peer ?? '');
    return read !== undefined && this.#list.check(read.address, read.family);
  }
}

import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

import type { Reach } from './address-reach.ts';
import { reachOf } from './address-reach.ts';

/** An address that a source must not point to. The message continues a sentence that ends with the address. */
export class ClosedPlaceError extends Error {
  override readonly name = 'ClosedPlaceError';
}

/** Options of a guard. */
export interface ReachGuardOptions {
  /** The configured address of the source; any address is allowed here. */
  readonly home: URL;
  /** `host:port` addresses that are never allowed, not even for the source itself. */
  readonly closed: readonly string[];
  readonly connection: { readonly timeout: number; readonly ca?: string };
  /** `reachOf` where absent. */
  readonly reach?: ((address: string) => Reach) | undefined;
}

/**
 * Decides where a source may point to by redirects, token realms and the like: to public addresses, and to addresses of its own
 * kind. Names are checked by the addresses that they resolve to, immediately before the connection is made.
 */
export class ReachGuard {
  /** Connects where it is allowed, and fails with `ClosedPlaceError` elsewhere. */
  readonly connect: buildConnector.connector;
  readonly #home: string;
  readonly #closed: ReadonlySet<string>;
  readonly #reach: (address: string) => Reach;
  /** The reach of the source's own addresses. */
  readonly #own = new Set<Reach>();

  constructor({ home, closed, connection, reach = reachOf }: ReachGuardOptions) {
    this.#home = bare(home.hostname);
    this.#closed = new Set(closed.map((place) => placeOf(new URL(`https://${place}`))));
    this.#reach = reach;
    const connect = buildConnector({ ...connection, lookup: this.#lookup });
    this.connect = (options, callback) => {
      connect(options, (...[error, socket]) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        const trouble = this.#evaluate(bare(options.hostname), socket);
        if (trouble === undefined) {
          callback(null, socket);
          return;
        }
        socket.destroy();
        callback(trouble, null);
      });
    };
  }

  /** @throws ClosedPlaceError when the URL alone shows that its address is not allowed. */
  check(url: URL): void {
    const host = bare(url.hostname);
    if (this.#closed.has(placeOf(url))) throw closedPlace();
    if (ipaddr.isValid(host)) this.#refuseInward(host, host);
  }

  #evaluate(host: string, { remoteAddress = '', remotePort = 0 }: Socket): Error | undefined {
    if (this.#closed.has(`${canonical(remoteAddress)} ${remotePort}`)) return closedPlace();
    if (host === this.#home) this.#own.add(this.#reach(remoteAddress));
    try {
      this.#refuseInward(host, remoteAddress);
    } catch (error) {
      return error as Error;
    }
    return undefined;
  }

  #refuseInward(host: string, address: string): void {
    const reach = this.#reach(address);
    if (host === this.#home || reach === 'public' || this.#own.has(reach)) return;
    throw new ClosedPlaceError(`${words[reach]}: only a source with such an address itself may point to one`);
  }

  readonly #lookup: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      try {
        if (error !== null) throw error;
        for (const { address } of addresses) this.#refuseInward(bare(host), address);
        const [first] = addresses;
        if (options.all === true || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      } catch (failure) {
        callback(failure as NodeJS.ErrnoException, []);
      }
    });
  };
}

const words: Readonly<Record<Reach, string>> = {
  public: 'which is public',
  private: 'which is in a private network',
  link: 'which is a link-local address or the address of a metadata service',
  machine: 'which is the manager’s own machine',
};

const closedPlace = (): ClosedPlaceError =>
  new ClosedPlaceError('which is the API server of the management cluster and cannot be a source of releases');

/** Of IPv6 without brackets. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();

const canonical = (host: string): string => (ipaddr.isValid(host) ? ipaddr.process(host).toString() : host);

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function placeOf({ hostname, port, protocol }: URL): string {
  return `${canonical(bare(hostname))} ${port === '' ? (defaultPorts[protocol] ?? '') : port}`;
}

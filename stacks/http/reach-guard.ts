import { lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

import type { Reach } from './address-reach.ts';
import { reachOf } from './address-reach.ts';

/** A place that a source may not lead to. Its message goes on from the name of that place. */
export class ClosedPlaceError extends Error {
  override readonly name = 'ClosedPlaceError';
}

/** What a guard knows beforehand. */
export interface ReachGuardOptions {
  /** Where the source is, as somebody wrote it: they may name any place. */
  readonly home: URL;
  /** `host:port` that nothing leads to, not even whoever names it as a source. */
  readonly closed: readonly string[];
  readonly connection: { readonly timeout: number; readonly ca?: string };
  /** `reachOf` where absent. */
  readonly reach?: ((address: string) => Reach) | undefined;
}

/**
 * Decides where a source may lead by redirects, realms and the like: to public addresses, and to such as it has itself. Names are judged by the
 * addresses that they have at the moment of the connection, before it is made.
 */
export class ReachGuard {
  /** Connects where it is allowed, and fails with `ClosedPlaceError` elsewhere. */
  readonly connect: buildConnector.connector;
  readonly #home: string;
  readonly #closed: ReadonlySet<string>;
  readonly #reach: (address: string) => Reach;
  /** From where the source itself was reached. */
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
        const trouble = this.#judge(bare(options.hostname), socket);
        if (trouble === undefined) {
          callback(null, socket);
          return;
        }
        socket.destroy();
        callback(trouble, null);
      });
    };
  }

  /** @throws ClosedPlaceError when it can be told without a connection that this address is closed. */
  check(url: URL): void {
    const host = bare(url.hostname);
    if (this.#closed.has(placeOf(url))) throw closedPlace();
    if (ipaddr.isValid(host)) this.#refuseInward(host, host);
  }

  #judge(host: string, { remoteAddress = '', remotePort = 0 }: Socket): Error | undefined {
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
    throw new ClosedPlaceError(`${words[reach]}: only a source that is at such an address itself may lead to one`);
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
  link: 'which is a link-local address or one of a metadata service',
  machine: 'which is the manager’s own machine',
};

const closedPlace = (): ClosedPlaceError =>
  new ClosedPlaceError('which is the API server of the management cluster: releases are not there');

/** Of IPv6 without brackets. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();

const canonical = (host: string): string => (ipaddr.isValid(host) ? ipaddr.process(host).toString() : host);

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function placeOf({ hostname, port, protocol }: URL): string {
  return `${canonical(bare(hostname))} ${port === '' ? (defaultPorts[protocol] ?? '') : port}`;
}

import type { EtcdDataCalls } from './data-client.ts';

/**
 * How much may be added to a time to live, in milliseconds, so that keys that expire at about the same time can use one
 * lease.
 */
const slackMs = 1000;

/** The largest number of cached leases; above it, the cache is cleared and leases are read again. */
const mostKnown = 10_000;

type Leases = Pick<EtcdDataCalls, 'grantLease' | 'leaseSeconds'>;

/**
 * Times to live in a copy. Leases cannot be copied: their remaining time is read from the source, and the target grants new ones. Times
 * are those of a monotonic clock, in milliseconds.
 */
export class EtcdLeases {
  readonly #client: Leases;
  readonly #now: () => number;
  /** When leases that were read end, by identifier. */
  readonly #ends = new Map<string, number>();
  /** Leases that were granted, by the time at which they end, in units of the slack. */
  readonly #granted = new Map<number, string>();

  constructor(client: Leases, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#now = now;
  }

  /** Milliseconds that a lease has left, at least 1: a key whose lease has ended is about to be deleted. Throws `StoreError`. */
  async left(lease: string): Promise<number> {
    let end = this.#ends.get(lease);
    if (end === undefined) {
      if (this.#ends.size >= mostKnown) this.#ends.clear();
      end = this.#now() + 1000 * ((await this.#client.leaseSeconds(lease)) ?? 0);
      this.#ends.set(lease, end);
    }
    return Math.max(1, Math.round(end - this.#now()));
  }

  /** A lease that ends in `ttlMs`, which is positive, or up to two seconds later. Throws `StoreError`. */
  async granted(ttlMs: number): Promise<string> {
    const unit = Math.ceil((this.#now() + ttlMs) / slackMs);
    const known = this.#granted.get(unit);
    if (known !== undefined) return known;
    if (this.#granted.size >= mostKnown) this.#granted.clear();
    const lease = await this.#client.grantLease(Math.ceil((unit * slackMs - this.#now()) / 1000));
    this.#granted.set(unit, lease);
    return lease;
  }

  /** Forgets leases that were granted: one of them has ended. */
  forget(): void {
    this.#granted.clear();
  }
}

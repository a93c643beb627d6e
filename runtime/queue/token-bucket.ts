import type { Clock } from '../clock.ts';

export interface BucketSize {
  /** Tokens that are added each second. */
  readonly perSecond: number;
  /** Tokens of a full bucket. */
  readonly burst: number;
}

/** Spreads work over time: a burst at once, then a steady pace. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #size: BucketSize;
  #tokens: number;
  #at: number;

  constructor(clock: Clock, size: BucketSize) {
    this.#clock = clock;
    this.#size = size;
    this.#tokens = size.burst;
    this.#at = clock.monotonic();
  }

  /** Takes a token, if need be one that is added later; returns the milliseconds until then. */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#size.perSecond) * 1000;
  }

  /** Takes a token if one is there. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const gained = ((now - this.#at) / 1000) * this.#size.perSecond;
    this.#tokens = Math.min(this.#size.burst, this.#tokens + gained);
    this.#at = now;
  }
}

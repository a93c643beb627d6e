/** How long to wait before the next attempt, and when to start over. Times are milliseconds. */
export interface Backoff {
  /** The wait before the next attempt; grows with each call. */
  next(): number;
  /** Forget the failures: the next wait is the first one again. */
  reset(): void;
}

export interface BackoffOptions {
  /** The first wait. */
  readonly firstMs: number;
  /** No wait is longer than this, jitter included. */
  readonly capMs: number;
  /** In [0, 1): `Math.random` in production. */
  readonly random: () => number;
}

/**
 * Doubles from `firstMs` to `capMs`, each wait drawn from the upper half of its step, so that clients which lost the same
 * server do not reconnect at the same moment.
 */
export function exponentialBackoff(options: BackoffOptions): Backoff {
  let failures = 0;
  return {
    next: () => {
      const step = Math.min(options.capMs, options.firstMs * 2 ** Math.min(failures, 30));
      failures += 1;
      return step / 2 + (options.random() * step) / 2;
    },
    reset: () => {
      failures = 0;
    },
  };
}

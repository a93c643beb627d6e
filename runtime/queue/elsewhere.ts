import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Timer } from '../clock.ts';

/** From when on a reconcile that waits for a server elsewhere counts as slow, in milliseconds. */
export const slowRules = {
  /** Without an answer to any of its requests. */
  silentMs: 250,
  /** In all. */
  totalMs: 2_000,
  /**
   * A timer that fires later than this is a sign of a busy process, not of a slow server: responses may have arrived that were not read
   * yet.
   */
  lateMs: 50,
} as const;

/** The time that one reconcile waits for servers which are not ours, such as those of tenants. */
export class Elsewhere {
  readonly #clock: Clock;
  readonly #slowed: () => void;
  readonly #abort = new AbortController();
  #open = 0;
  #since = 0;
  #heldMs = 0;
  #timer: Timer | undefined;
  #isSlow = false;

  /** `slowed` is called once, as soon as it counts as slow. */
  constructor(clock: Clock, slowed: () => void = () => undefined) {
    this.#clock = clock;
    this.#slowed = slowed;
  }

  /** Aborted when it must make room for others. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Milliseconds for which at least one request was waited for. */
  get heldMs(): number {
    return this.#heldMs + (this.#open > 0 ? this.#clock.monotonic() - this.#since : 0);
  }

  /** Ends all its waiting. */
  cut(reason: Error): void {
    this.#abort.abort(reason);
  }

  /** Runs `action`; what it waits for by `waitElsewhere`, however deep, is counted here. */
  run<T>(action: () => Promise<T>): Promise<T> {
    return storage.run(this, action);
  }

  async wait<T>(request: (cut: AbortSignal) => Promise<T>): Promise<T> {
    this.#abort.signal.throwIfAborted();
    if (this.#open === 0) this.#since = this.#clock.monotonic();
    this.#open += 1;
    if (this.#timer === undefined) this.#arm();
    try {
      return await request(this.#abort.signal);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#heldMs += this.#clock.monotonic() - this.#since;
      // An answer arrived: requests that still wait have their whole time again.
      this.#timer?.cancel();
      this.#timer = undefined;
      if (this.#open > 0) this.#arm();
    }
  }

  #arm(): void {
    if (this.#isSlow) return;
    const wait = Math.min(slowRules.silentMs, Math.max(slowRules.totalMs - this.heldMs, 0));
    const due = this.#clock.monotonic() + wait;
    this.#timer = this.#clock.after(wait, () => {
      this.#timer = undefined;
      if (this.#clock.monotonic() - due > slowRules.lateMs) {
        this.#arm();
        return;
      }
      this.#isSlow = true;
      this.#slowed();
    });
  }
}

const storage = new AsyncLocalStorage<Elsewhere>();

/**
 * Calls a server that may delay its answer as long as it likes. Inside a reconcile the wait is counted, so that other
 * reconciles can run in place of those that wait, and the signal can abort them.
 */
export function waitElsewhere<T>(request: (cut: AbortSignal | undefined) => Promise<T>): Promise<T> {
  const current = storage.getStore();
  return current === undefined ? request(undefined) : current.wait(request);
}

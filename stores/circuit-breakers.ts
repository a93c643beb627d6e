import type { Clock } from '../runtime/clock.ts';
import type { StoreError } from './store-error.ts';

/** Milliseconds for which a store that did not answer is not asked again, except by a probe. */
const restMs = 10_000;

/** Milliseconds after its last use for which something is known of a store. What still exists is probed far more often. */
const rememberMs = 15 * 60_000;

interface Known {
  /** When it last answered, on the monotonic clock. */
  answered: number;
  failure: { readonly error: StoreError; readonly at: number } | undefined;
  /** Uses under way that were let through although it is known not to answer. */
  trials: number;
  /** When a use of it last began or ended. */
  usedAt: number;
}

/** How a use ended: the store answered, be it with a refusal; it could not be reached; or nobody knows. */
export type UseEnd = 'answered' | 'unknown' | StoreError;

/**
 * Which stores are known not to answer, by any key: whoever asks is refused at once with what is known, so that a dead store
 * does not hold up those who wait for it in vain. After a while one use at a time is let through to find out, a probe always.
 */
export class CircuitBreakers {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  #sweptAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets a use begin, and returns what is to be called when it ends. Throws the known `StoreError` of a store that does not answer. */
  admit(key: string, probe: boolean): (end: UseEnd) => void {
    const began = this.#clock.monotonic();
    this.#sweep(began);
    const known = this.#known.get(key) ?? { answered: -Infinity, failure: undefined, trials: 0, usedAt: began };
    const { failure } = known;
    const resting = failure !== undefined && (known.trials > 0 || began - failure.at < restMs);
    if (resting && !probe) throw failure.error;
    known.usedAt = began;
    this.#known.set(key, known);
    const trial = failure === undefined ? 0 : 1;
    known.trials += trial;
    return (end) => {
      const now = this.#clock.monotonic();
      known.trials -= trial;
      known.usedAt = now;
      if (end === 'answered') Object.assign(known, { answered: now, failure: undefined });
      // A use that has waited since before the store came back says nothing of it now.
      else if (end !== 'unknown' && began >= known.answered) known.failure = { error: end, at: now };
    };
  }

  /** Nothing is known of the store any more. */
  forget(key: string): void {
    this.#known.delete(key);
  }

  /** Stores that something is known of. */
  get size(): number {
    return this.#known.size;
  }

  /** A store that never answered and whose DataStore is gone is used by nobody again: nothing else would forget it. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < restMs) return;
    this.#sweptAt = now;
    for (const [key, { usedAt, trials }] of this.#known) {
      if (trials === 0 && now - usedAt >= rememberMs) this.#known.delete(key);
    }
  }
}

import type { Clock } from '../runtime/clock.ts';
import type { StoreError } from './store-error.ts';

/** Milliseconds in which a datastore that did not answer is not used again, except by a probe. */
const restMs = 10_000;

/** Milliseconds after the last use until a datastore is forgotten. One that still exists is probed far more often. */
const rememberMs = 15 * 60_000;

interface Known {
  /** When it last answered, on the monotonic clock. */
  answered: number;
  failure: { readonly error: StoreError; readonly at: number } | undefined;
  /** Uses in progress that were admitted although the datastore is known not to answer. */
  trials: number;
  /** When a use of it last began or ended. */
  usedAt: number;
}

/** How a use ended: the datastore answered (a refusal counts as well), it could not be reached, or that is unknown. */
export type UseEnd = 'answered' | 'unknown' | StoreError;

/**
 * Circuit breakers by key: while a datastore is known not to answer, a use fails at once with the known error, so that a dead datastore
 * does not block its users. After a while one use at a time is admitted to find out whether it is back; a probe always is.
 */
export class CircuitBreakers {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  #sweptAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Admits a use, and returns a function to call when it ends. Throws the known `StoreError` of a datastore that does not answer. */
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
      // A use that began before the datastore came back says nothing about it now.
      else if (end !== 'unknown' && began >= known.answered) known.failure = { error: end, at: now };
    };
  }

  /** Forgets the datastore. */
  forget(key: string): void {
    this.#known.delete(key);
  }

  /** Number of known datastores. */
  get size(): number {
    return this.#known.size;
  }

  /** Forgets unused datastores: a deleted one that never answered would stay forever. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < restMs) return;
    this.#sweptAt = now;
    for (const [key, { usedAt, trials }] of this.#known) {
      if (trials === 0 && now - usedAt >= rememberMs) this.#known.delete(key);
    }
  }
}

import type { Clock, Timer } from '../../../runtime/clock.ts';

/** A clock that only a plan moves on: what waits for time gets it at once. */
export class PlanClock implements Clock {
  readonly #start: Date;
  #passedMs = 0;

  constructor(start: Date) {
    this.#start = start;
  }

  now(): Date {
    return new Date(this.#start.getTime() + this.#passedMs);
  }

  monotonic(): number {
    return this.#passedMs;
  }

  /** Deadlines do not expire: no request of a plan takes time. */
  after(): Timer {
    return { cancel: () => undefined };
  }

  advance(ms: number): void {
    this.#passedMs += ms;
  }
}

import type { Clock, Timer } from '../../runtime/clock.ts';

interface Waiting {
  readonly due: number;
  readonly order: number;
  readonly action: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  readonly #start: number;
  #order = 0;
  readonly #timers = new Set<Waiting>();

  /** Starts at `start`; by default at 2030-01-01. */
  constructor(start: Date = new Date('2030-01-01T00:00:00Z')) {
    this.#now = start.getTime();
    this.#start = this.#now;
  }

  now(): Date {
    return new Date(this.#now);
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  after(ms: number, action: () => void): Timer {
    this.#order += 1;
    const waiting: Waiting = { due: this.#now + Math.max(ms, 0), order: this.#order, action };
    this.#timers.add(waiting);
    return {
      cancel: () => {
        this.#timers.delete(waiting);
      },
    };
  }

  /** Number of timers that wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer is due; undefined when none waits. */
  get nextDueMs(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : next.due - this.#now;
  }

  /**
   * Moves time on by `ms`, firing every timer that becomes due, in order, and lets promises settle after each: a timer may
   * set new timers inside the same span.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    for (let timer = this.#next(); timer !== undefined && timer.due <= target; timer = this.#next()) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.due);
      timer.action();
      await settle();
    }
    this.#now = target;
  }

  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.due < next.due || (timer.due === next.due && timer.order < next.order))
        next = timer;
    }
    return next;
  }
}

/** Lets everything that is ready to run do so: two turns of the event loop's check phase. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

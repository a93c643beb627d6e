import type { Clock, Timer } from '../../../runtime/clock.ts';

/** The clock of one process: its wall clock may jump, and its timers end with it. */
export class ProcessClock implements Clock {
  readonly #base: Clock;
  readonly #timers = new Set<Timer>();
  #offsetMs = 0;
  #hasEnded = false;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): Date {
    return new Date(this.#base.now().getTime() + this.#offsetMs);
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  after(ms: number, action: () => void): Timer {
    if (this.#hasEnded) return { cancel: () => undefined };
    const timer = this.#base.after(ms, () => {
      this.#timers.delete(timer);
      action();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  /** Sets the wall clock forward, or back for a negative number; durations are measured as before. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  /** The process is dead: nothing that it waits for happens. */
  end(): void {
    this.#hasEnded = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

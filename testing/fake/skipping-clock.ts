import type { Clock } from '../../runtime/clock.ts';

/** A test that waits more often waits for ever. */
const mostSkipped = 2_000;

/** A clock on which short waits are over at once, and long ones never. */
export class SkippingClock implements Clock {
  #ms = Date.parse('2030-01-01T00:00:00Z');
  #skipped = 0;
  now(): Date {
    return new Date(this.#ms);
  }
  monotonic(): number {
    return this.#ms;
  }
  after(ms: number, action: () => void): { cancel: () => void } {
    if (ms > 2_000) return { cancel: () => undefined };
    this.#skipped += 1;
    if (this.#skipped > mostSkipped) throw new Error('something is waited for that never happens');
    const timer = setImmediate(() => {
      this.#ms += ms;
      action();
    });
    return {
      cancel: () => {
        clearImmediate(timer);
      },
    };
  }
}

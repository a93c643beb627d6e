import { Cron } from 'croner';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** What fires less often than once in nine years never does: 29 February is missing in 2100. */
const longest = 9 * 366 * dayMs;

/** A cron expression with five fields, on a calendar without time zones and changes of the clock. */
export class CronTimes {
  readonly #cron: Cron;

  /** Throws an error that says what is wrong. */
  constructor(expression: string) {
    // With a time zone, croner needs milliseconds for each time and leaves out hours when the clock is turned back.
    this.#cron = new Cron(expression, { utcOffset: 0, mode: '5-part', paused: true });
  }

  /** The first time after another one; undefined if there is none. */
  after(time: number): number | undefined {
    const found = this.#cron.nextRun(new Date(time))?.getTime();
    return found === undefined || found - time > longest ? undefined : found;
  }

  /** The last time that is not after another one; undefined if there is none. */
  upTo(time: number): number | undefined {
    // What fires often is found with few searches.
    return this.#within(time, hourMs) ?? this.#within(time, 8 * dayMs) ?? this.#within(time, longest);
  }

  #within(time: number, spanMs: number): number | undefined {
    const firesAfter = (minute: number): boolean => (this.after(minute * minuteMs - 1) ?? Infinity) <= time;
    let [low, high] = [Math.floor((time - spanMs) / minuteMs), Math.floor(time / minuteMs) + 1];
    if (!firesAfter(low)) return undefined;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (firesAfter(middle)) low = middle;
      else high = middle;
    }
    return low * minuteMs;
  }
}

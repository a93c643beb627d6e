const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Clocks are turned back by less than this. */
const lookBackMs = 3 * hourMs;

/** No zone is farther from UTC than this. */
const farthestMs = 15 * hourMs;

/**
 * The clock on the wall in a time zone. Its times are numbers as well: milliseconds since 1970 as if the zone was UTC. A clock that
 * is turned back shows an hour twice, and one that is turned forward skips one, so what counts is how far it has come: a time that comes
 * twice counts when it comes first, and one that is skipped counts as soon as it has been.
 */
export class WallClock {
  readonly #format: Intl.DateTimeFormat;

  /** Throws a RangeError for what is no time zone. */
  constructor(timeZone: string) {
    const two = '2-digit';
    const parts = { month: two, day: two, hour: two, minute: two, second: two } as const;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year: 'numeric', ...parts });
  }

  /** The latest time that the clock has shown at a moment or before. */
  reached(moment: number): number {
    const offset = this.#offset(moment);
    const before = this.#offset(moment - lookBackMs);
    if (before <= offset) return moment + offset;
    const turned = firstWhere(moment - lookBackMs, moment, (at) => this.#offset(at) !== before);
    // The clock did not show the time at which it was turned back.
    return Math.max(moment + offset, turned + before - 1);
  }

  /** The moment at which the clock reaches a time. */
  momentOf(time: number): number {
    // Right unless the clock is turned about then.
    const near = time - this.#offset(time - this.#offset(time));
    const isWhole = near % minuteMs === 0;
    if (isWhole && this.reached(near) >= time && this.reached(near - minuteMs) < time) return near;
    return firstWhere(time - farthestMs, time + farthestMs, (at) => this.reached(at) >= time);
  }

  #offset(moment: number): number {
    const whole = Math.floor(moment / 1000) * 1000;
    const shown = new Map(this.#format.formatToParts(whole).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, day = 1] = [shown.get('year'), shown.get('month'), shown.get('day')];
    return Date.UTC(year, month - 1, day, shown.get('hour'), shown.get('minute'), shown.get('second')) - whole;
  }
}

/** The first whole minute in a range at which something holds that holds from then on, and at its end. */
function firstWhere(from: number, to: number, holds: (at: number) => boolean): number {
  let [low, high] = [Math.floor(from / minuteMs), Math.ceil(to / minuteMs)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle * minuteMs)) high = middle;
    else low = middle;
  }
  return high * minuteMs;
}

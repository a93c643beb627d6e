import type { SleepSchedule } from '../../../api/embedded/sleep.ts';
import { CronTimes } from './cron-times.ts';
import { WallClock } from './wall-clock.ts';

/** The time zone of a schedule that names none, as for CronJobs. */
export const defaultTimeZone = 'Etc/UTC';

/** What schedules say about a moment. */
export interface ScheduledSleep {
  readonly isAsleep: boolean;
  /** When that changes next, or when to ask again, in milliseconds since the epoch; undefined if it never does. */
  readonly next: number | undefined;
}

/** A field of a schedule that cannot be used. */
export interface ScheduleFault {
  readonly field: 'sleep' | 'wake' | 'timeZone';
  readonly reason: string;
}

/** So many times of one schedule, or of all together, are looked at to find the next change. */
const mostSteps = 32;

/** A schedule that can be asked for moments. */
export interface ReadSchedule {
  readonly clock: WallClock;
  readonly sleep: CronTimes;
  readonly wake: CronTimes;
}

/** Reads a schedule, or says which field is wrong. `now` is where it begins to look for times. */
export function readSchedule(schedule: SleepSchedule, now: number): ReadSchedule | ScheduleFault {
  const clock = readZone(schedule.timeZone ?? defaultTimeZone);
  if ('reason' in clock) return clock;
  const sleep = readCron('sleep', schedule.sleep, now);
  if ('reason' in sleep) return sleep;
  const wake = readCron('wake', schedule.wake, now);
  if ('reason' in wake) return wake;
  return { clock, sleep, wake };
}

function readZone(timeZone: string): WallClock | ScheduleFault {
  try {
    return new WallClock(timeZone);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { field: 'timeZone', reason: `"${timeZone}" is not a time zone` };
  }
}

function readCron(field: 'sleep' | 'wake', expression: string, now: number): CronTimes | ScheduleFault {
  try {
    const times = new CronTimes(expression);
    if (times.after(now) !== undefined) return times;
    return { field, reason: `"${expression}" never comes` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { field, reason: `"${expression}" is not a cron expression: ${why}` };
  }
}

/**
 * The first time to fall asleep after another one that is no time to wake up as well. If there are too many of those, the time at which
 * to look again.
 */
function nextSleep({ sleep, wake }: ReadSchedule, after: number): number | undefined {
  let time = sleep.after(after);
  for (let steps = 0; time !== undefined && steps < mostSteps && wake.after(time - 1) === time; steps += 1) {
    time = sleep.after(time);
  }
  return time;
}

/** The later of the last two times decides; of one time for both, it is awake. */
function askOne(schedule: ReadSchedule, now: number): ScheduledSleep {
  const { clock, sleep, wake } = schedule;
  const time = clock.reached(now);
  const [slept, woke] = [sleep.upTo(time), wake.upTo(time)];
  const isAsleep = slept !== undefined && (woke === undefined || slept > woke);
  const next = isAsleep ? wake.after(time) : nextSleep(schedule, time);
  return { isAsleep, next: next === undefined ? undefined : clock.momentOf(next) };
}

/**
 * What schedules say about a moment. It depends on nothing else: whoever was away meanwhile has missed nothing. With several, it sleeps
 * while at least one of them says so.
 */
export function scheduledSleep(schedules: readonly ReadSchedule[], now: number): ScheduledSleep {
  let states = schedules.map((schedule) => askOne(schedule, now));
  const isAsleep = states.some((state) => state.isAsleep);
  for (let steps = 0; ; steps += 1) {
    const next = earliest(states);
    if (next === undefined || steps === mostSteps) return { isAsleep, next };
    states = states.map((state, index) => {
      const schedule = schedules[index];
      return state.next === next && schedule !== undefined ? askOne(schedule, next) : state;
    });
    if (states.some((state) => state.isAsleep) !== isAsleep) return { isAsleep, next };
  }
}

function earliest(states: readonly ScheduledSleep[]): number | undefined {
  const times = states.flatMap(({ next }) => (next === undefined ? [] : [next]));
  return times.length === 0 ? undefined : Math.min(...times);
}

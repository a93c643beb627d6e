import type { SleepSchedule } from '../../../api/embedded/sleep.ts';
import { CronTimes } from './cron-times.ts';
import { WallClock } from './wall-clock.ts';

/** The time zone of a schedule that names none, as for CronJobs. */
export const defaultTimeZone = 'Etc/UTC';

/** A field of a schedule that cannot be used. */
export interface ScheduleFault {
  readonly field: 'sleep' | 'wake' | 'timeZone';
  readonly reason: string;
}

/** A schedule that can be asked for moments. */
export interface ReadSchedule {
  readonly clock: WallClock;
  readonly sleep: CronTimes;
  readonly wake: CronTimes;
}

/** Reads a cron expression; throws an error that says what is wrong. */
export type ReadCron = (expression: string) => CronTimes;

const cronTimes: ReadCron = (expression) => new CronTimes(expression);

/** Reads a schedule, or says which field is wrong. `now` is where it begins to look for times. */
export function readSchedule(
  schedule: SleepSchedule,
  now: number,
  cron: ReadCron = cronTimes,
): ReadSchedule | ScheduleFault {
  const clock = readZone(schedule.timeZone ?? defaultTimeZone);
  if ('reason' in clock) return clock;
  const sleep = readTimes('sleep', schedule.sleep, { now, cron });
  if ('reason' in sleep) return sleep;
  const wake = readTimes('wake', schedule.wake, { now, cron });
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

function readTimes(
  field: 'sleep' | 'wake',
  expression: string,
  { now, cron }: { readonly now: number; readonly cron: ReadCron },
): CronTimes | ScheduleFault {
  try {
    const times = cron(expression);
    if (times.after(now) !== undefined) return times;
    return { field, reason: `"${expression}" never comes` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { field, reason: `"${expression}" is not a cron expression: ${why}` };
  }
}

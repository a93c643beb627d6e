import type { AnswerSteps } from './answer-steps.ts';
import type { ReadSchedule } from './read-schedule.ts';

/** So many times at which one schedule would fall asleep and wake up at once are passed over in a row. */
const mostTies = 32;

/** What one schedule says at a moment, and when to look at it next. */
export interface ScheduleCourse {
  readonly schedule: ReadSchedule;
  readonly isAsleep: boolean;
  /** Where the clock on the wall is then; undefined if nothing changes anymore. */
  readonly time: number | undefined;
  /** The same as a moment, in milliseconds since the epoch. */
  readonly next: number | undefined;
}

/** What a schedule says at a moment: the later of its last two times decides; of one time for both, it is awake. */
export function courseAt(schedule: ReadSchedule, moment: number, steps: AnswerSteps): ScheduleCourse {
  const { clock, sleep, wake } = schedule;
  const time = clock.reached(moment);
  const [slept, woke] = [sleep.upTo(time), wake.upTo(time)];
  const isAsleep = slept !== undefined && (woke === undefined || slept > woke);
  return courseFrom(schedule, { isAsleep, time: isAsleep ? wake.after(time) : nextSleep(schedule, time, steps) });
}

/** What it says at a later moment. Times that were skipped when the clock was turned forward count as well. */
export function courseAfter(course: ScheduleCourse, moment: number, steps: AnswerSteps): ScheduleCourse {
  const { schedule } = course;
  const reached = schedule.clock.reached(moment);
  let { isAsleep, time } = course;
  while (time !== undefined && time <= reached) {
    isAsleep = !isAsleep && !isTie(schedule, time);
    time = isAsleep ? schedule.wake.after(time) : nextSleep(schedule, time, steps);
  }
  return courseFrom(schedule, { isAsleep, time });
}

function courseFrom(
  schedule: ReadSchedule,
  { isAsleep, time }: Pick<ScheduleCourse, 'isAsleep' | 'time'>,
): ScheduleCourse {
  return { schedule, isAsleep, time, next: time === undefined ? undefined : schedule.clock.momentOf(time) };
}

/** True for a time to fall asleep that is one to wake up as well. */
function isTie({ wake }: ReadSchedule, time: number): boolean {
  return wake.after(time - 1) === time;
}

/** The first time to fall asleep after another one that is no time to wake up as well. If there are too many of those, where to look again. */
function nextSleep(schedule: ReadSchedule, after: number, steps: AnswerSteps): number | undefined {
  let time = schedule.sleep.after(after);
  for (let ties = 0; time !== undefined && ties < mostTies && isTie(schedule, time) && steps.take(); ties += 1) {
    time = schedule.sleep.after(time);
  }
  return time;
}

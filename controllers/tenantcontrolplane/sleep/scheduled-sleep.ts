import { AnswerSteps } from './answer-steps.ts';
import type { ReadSchedule } from './read-schedule.ts';
import { courseAfter, courseAt } from './schedule-course.ts';
import type { ScheduleCourse } from './schedule-course.ts';

/** What schedules say about a moment. */
export interface ScheduledSleep {
  readonly isAsleep: boolean;
  /** When that changes next, in milliseconds since the epoch; undefined if it never does, or nobody has looked so far ahead. */
  readonly next: number | undefined;
  /** When to ask again, if that is before the next change, or that is not known. */
  readonly again?: number | undefined;
}

/**
 * What schedules say about a moment. It depends on nothing else: whoever was away meanwhile has missed nothing. With several, it sleeps
 * while at least one of them says so.
 */
export function scheduledSleep(
  schedules: readonly ReadSchedule[],
  now: number,
  steps: AnswerSteps = new AnswerSteps(),
): ScheduledSleep {
  let courses = schedules.map((schedule) => courseAt(schedule, now, steps));
  const isAsleep = courses.some((course) => course.isAsleep);
  for (;;) {
    const next = earliest(courses);
    if (next === undefined) return { isAsleep, next };
    courses = courses.map((course) => (course.next === next ? courseAfter(course, next, steps) : course));
    if (courses.some((course) => course.isAsleep) !== isAsleep) return { isAsleep, next };
    if (!steps.take()) return { isAsleep, next: undefined, again: next };
  }
}

function earliest(courses: readonly ScheduleCourse[]): number | undefined {
  const times = courses.flatMap(({ next }) => (next === undefined ? [] : [next]));
  return times.length === 0 ? undefined : Math.min(...times);
}

import type { SleepSchedule } from '../../../api/embedded/sleep.ts';
import { AnswerSteps } from './answer-steps.ts';
import { readSchedule } from './read-schedule.ts';
import type { ReadCron, ReadSchedule } from './read-schedule.ts';
import { scheduledSleep } from './scheduled-sleep.ts';
import type { ScheduledSleep } from './scheduled-sleep.ts';

/** So many different lists of schedules are remembered, and so many answers of each. */
const most = { lists: 1_000, answers: 8 } as const;

/** What is in the past and not known yet is looked for again after so many milliseconds. */
const behindMs = 10_000;

/** An answer, and from when on it holds: until it changes, or until where nobody has looked. */
type Answer = ScheduledSleep & { readonly from: number };

interface Known {
  readonly read: readonly ReadSchedule[];
  readonly fault?: string;
  answers: readonly Answer[];
}

const endOf = ({ next, again }: ScheduledSleep): number => next ?? again ?? Infinity;

/**
 * What lists of schedules say. An answer takes milliseconds of processor time, each reconcile asks for some, and many control planes
 * have the same schedules: answers are remembered for as long as they hold, and no question takes more than so many steps.
 */
export class ScheduleAnswers {
  readonly #known = new Map<string, Known>();
  readonly #cron: ReadCron | undefined;

  constructor(parts: { readonly cron?: ReadCron } = {}) {
    this.#cron = parts.cron;
  }

  /** Lists that are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /** What is wrong with them, so that none has an effect. */
  fault(schedules: readonly SleepSchedule[], now: number): string | undefined {
    return this.#of(schedules, now).fault;
  }

  /** What they say about a time. */
  at(schedules: readonly SleepSchedule[], time: number, now = time): ScheduledSleep {
    return this.#at(this.#of(schedules, now), time, new AnswerSteps());
  }

  /** The first time after another one at which they wake it up; if that is not known yet, when to ask again. */
  nextWake(
    schedules: readonly SleepSchedule[],
    after: number,
    now: number,
  ): { readonly wake?: number; readonly again?: number } {
    const known = this.#of(schedules, now);
    const steps = new AnswerSteps();
    let answer = this.#at(known, after, steps);
    for (;;) {
      const end = endOf(answer);
      if (end === Infinity) return {};
      if (answer.next === undefined && end > now) return { again: end };
      if (answer.next === undefined && steps.areSpent) return { again: now + behindMs };
      const then = this.#at(known, end, steps);
      if (answer.isAsleep && !then.isAsleep) return { wake: end };
      answer = then;
    }
  }

  /** True if they have said since a time that it sleeps, and say so now. What is not known yet counts as true. */
  hasSlept(schedules: readonly SleepSchedule[], since: number, now: number): boolean {
    const known = this.#of(schedules, now);
    const steps = new AnswerSteps();
    let answer = this.#at(known, since, steps);
    while (answer.isAsleep && answer.next === undefined && endOf(answer) <= now && !steps.areSpent)
      answer = this.#at(known, endOf(answer), steps);
    return answer.isAsleep && (answer.next ?? Infinity) > now;
  }

  #at(known: Known, time: number, steps: AnswerSteps): Answer {
    const found = known.answers.find((one) => time >= one.from && time < endOf(one));
    if (found !== undefined) return found;
    // Looks on from where it stopped, so that what was looked for once is not looked for again.
    const before = known.answers
      .filter((one) => one.next === undefined && endOf(one) <= time)
      .reduce<Answer | undefined>((a, b) => (a === undefined || endOf(b) > endOf(a) ? b : a), undefined);
    const from = before === undefined ? time : endOf(before);
    const said = { ...scheduledSleep(known.read, from, steps), from };
    const isLonger = before?.isAsleep === said.isAsleep;
    const answer = isLonger ? { ...said, from: before.from } : said;
    const ended = before === undefined || isLonger ? [] : [{ ...before, next: from, again: undefined }];
    const others = known.answers.filter((one) => one !== before && endOf(one) !== endOf(answer));
    known.answers = [...others, ...ended, answer].slice(-most.answers);
    if (time < endOf(answer)) return answer;
    const late = { ...scheduledSleep(known.read, time, steps), from: time };
    known.answers = [...known.answers, late].slice(-most.answers);
    return late;
  }

  #of(schedules: readonly SleepSchedule[], now: number): Known {
    const text = JSON.stringify(schedules);
    const known = this.#known.get(text) ?? readAll(schedules, now, this.#cron);
    // The last one that was asked for is the last one to be forgotten.
    this.#known.delete(text);
    this.#known.set(text, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > most.lists && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

/** All of them, or none if one is wrong. */
function readAll(schedules: readonly SleepSchedule[], now: number, cron: ReadCron | undefined): Known {
  const read: ReadSchedule[] = [];
  for (const [index, schedule] of schedules.entries()) {
    const found = readSchedule(schedule, now, cron);
    if ('reason' in found)
      return { read: [], fault: `spec.sleep.schedules[${index}].${found.field} ${found.reason}`, answers: [] };
    read.push(found);
  }
  return { read, answers: [] };
}

import type { SleepSchedule } from '../../../api/embedded/sleep.ts';
import { readSchedule, scheduledSleep } from './scheduled-sleep.ts';
import type { ReadSchedule, ScheduledSleep } from './scheduled-sleep.ts';

/** So many different lists of schedules are remembered. */
const mostLists = 1_000;

interface Known {
  readonly read: readonly ReadSchedule[];
  readonly fault?: string;
  /** The last answer about the present, and from when on it holds. */
  answer?: ScheduledSleep & { readonly from: number };
}

/**
 * What lists of schedules say. An answer takes milliseconds of processor time, each reconcile asks for one, and many control planes
 * have the same schedules: answers are remembered until they change.
 */
export class ScheduleAnswers {
  readonly #known = new Map<string, Known>();

  /** Lists that are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /** What is wrong with them, so that none has an effect. */
  fault(schedules: readonly SleepSchedule[], now: number): string | undefined {
    return this.#of(schedules, now).fault;
  }

  /** What they say about the present. */
  at(schedules: readonly SleepSchedule[], now: number): ScheduledSleep {
    const known = this.#of(schedules, now);
    const { answer } = known;
    if (answer !== undefined && now >= answer.from && now < (answer.next ?? Infinity)) return answer;
    known.answer = { ...scheduledSleep(known.read, now), from: now };
    return known.answer;
  }

  /** What they say about another time, which is not remembered. */
  foretell(schedules: readonly SleepSchedule[], time: number, now: number): ScheduledSleep {
    return scheduledSleep(this.#of(schedules, now).read, time);
  }

  #of(schedules: readonly SleepSchedule[], now: number): Known {
    const text = JSON.stringify(schedules);
    const known = this.#known.get(text) ?? readAll(schedules, now);
    // The last one that was asked for is the last one to be forgotten.
    this.#known.delete(text);
    this.#known.set(text, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostLists && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

/** All of them, or none if one is wrong. */
function readAll(schedules: readonly SleepSchedule[], now: number): Known {
  const read: ReadSchedule[] = [];
  for (const [index, schedule] of schedules.entries()) {
    const found = readSchedule(schedule, now);
    if ('reason' in found) return { read: [], fault: `spec.sleep.schedules[${index}].${found.field} ${found.reason}` };
    read.push(found);
  }
  return { read };
}

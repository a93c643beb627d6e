import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CronTimes } from './cron-times.ts';
import { ScheduleAnswers } from './schedule-answers.ts';
import { readSchedule } from './read-schedule.ts';
import type { ReadSchedule } from './read-schedule.ts';
import { scheduledSleep } from './scheduled-sleep.ts';

const lists = [
  [{ sleep: '0 20 * * *', wake: '0 7 * * *', timeZone: 'Europe/Berlin' }],
  [
    { sleep: '0 20 * * *', wake: '0 7 * * *', timeZone: 'Europe/Berlin' },
    { sleep: '0 18 * * 5', wake: '0 7 * * 1' },
  ],
  [{ sleep: '*/7 * * * *', wake: '*/5 * * * *' }],
  [],
];
const begin = Date.parse('2030-10-25T00:00:00Z');
const hourMs = 3_600_000;
const read = (index: number): readonly ReadSchedule[] =>
  (lists[index] ?? []).map((schedule) => readSchedule(schedule, begin) as ReadSchedule);

test('What is remembered is what would be computed, also when the clock jumps', () => {
  const asked = fc.tuple(fc.nat({ max: lists.length - 1 }), fc.integer({ min: 0, max: 96 * hourMs }));
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 30 }), (all) => {
      const answers = new ScheduleAnswers();
      for (const [index, ms] of all) {
        const now = begin + ms;
        const { isAsleep, next, again } = answers.at(lists[index] ?? [], now);
        const computed = scheduledSleep(read(index), now);
        expect([isAsleep, next ?? computed.next]).toEqual([computed.isAsleep, computed.next ?? next]);
        expect(next ?? again ?? Infinity).toBeGreaterThan(now);
      }
    }),
    { numRuns: 30 },
  );
});

test('One schedule that cannot be used leaves none, and is named', () => {
  const answers = new ScheduleAnswers();
  const unusable = [...(lists[0] ?? []), { sleep: '0 20 * * *', wake: '0 7 * * *', timeZone: 'Europe/Atlantis' }];
  const night = Date.parse('2030-01-01T22:00:00Z');
  expect(answers.fault(unusable, night)).toBe('spec.sleep.schedules[1].timeZone "Europe/Atlantis" is not a time zone');
  expect(answers.at(unusable, night)).toMatchObject({ isAsleep: false, next: undefined });
});

test('Of many lists the last ones are remembered', () => {
  const answers = new ScheduleAnswers();
  for (let minute = 0; minute < 1_500; minute += 1) {
    const list = [{ sleep: `${minute % 60} ${minute % 24} * * *`, wake: `${minute % 59} * * * *` }];
    expect(answers.fault(list, begin)).toBeUndefined();
  }
  expect(answers.size).toBeLessThanOrEqual(1_000);
});

/** Counts how often a time is searched for. */
function counted(): { readonly answers: ScheduleAnswers; readonly searches: () => number } {
  let count = 0;
  class Counted extends CronTimes {
    override after(time: number): number | undefined {
      count += 1;
      return super.after(time);
    }
  }
  const answers = new ScheduleAnswers({ cron: (expression) => new Counted(expression) });
  return {
    answers,
    searches: () => {
      const all = count;
      count = 0;
      return all;
    },
  };
}

describe('Schedules that fire every minute and never let it sleep', () => {
  const busy = Array.from({ length: 8 }, () => ({ sleep: '*/2 * * * *', wake: '* * * * *' }));
  /** An answer takes no more searches than this, and that only if it is not remembered. */
  const mostSearches = 1_500;

  test('take few searches of each question, however long ago it fell asleep', () => {
    for (const hours of [0, 1, 24, 30 * 24]) {
      const { answers, searches } = counted();
      const now = begin + hours * hourMs;
      answers.nextWake(busy, begin, now);
      expect(searches()).toBeLessThan(mostSearches);
      answers.hasSlept(busy, begin, now);
      expect(searches()).toBeLessThan(mostSearches);
      answers.at(busy, now);
      expect(searches()).toBeLessThan(mostSearches);
    }
  });

  test('take none when the same is asked again, until it is to be asked again', () => {
    const { answers, searches } = counted();
    const { wake, again = 0 } = answers.nextWake(busy, begin, begin);
    expect([wake, again > begin + hourMs / 2]).toEqual([undefined, true]);
    searches();
    for (const now of [begin, begin + 60_000, again - 1]) {
      expect(answers.nextWake(busy, begin, now)).toEqual({ again });
      answers.at(busy, now);
    }
    expect(searches()).toBe(0);
    expect(answers.nextWake(busy, begin, again).again).toBeGreaterThan(again + hourMs / 2);
    expect(searches()).toBeLessThan(mostSearches);
  });
});

describe('The next time to wake up', () => {
  const nights = lists[0] ?? [];
  const morning = Date.parse('2030-10-25T05:00:00Z');

  test('is searched for once for all that fell asleep in the same night', () => {
    const { answers, searches } = counted();
    expect(answers.nextWake(nights, begin, begin)).toEqual({ wake: morning });
    searches();
    for (let minutes = 1; minutes < 240; minutes += 1)
      expect(answers.nextWake(nights, begin + minutes * 60_000, begin + hourMs * 5)).toEqual({ wake: morning });
    expect(searches()).toBe(0);
  });

  test('is found once time has come so far, however often sleep and wake come together before', () => {
    const answers = new ScheduleAnswers();
    // Awake from 07:00 to 23:00, and asleep otherwise.
    const list = [{ sleep: '*/2 * * * *', wake: '* 7-22 * * *' }];
    const since = Date.parse('2030-10-25T08:00:00Z');
    let now = since;
    let found = answers.nextWake(list, since, now);
    for (let asked = 0; asked < 40 && found.wake === undefined; asked += 1) {
      expect(found.again).toBeGreaterThan(now);
      now = found.again ?? Infinity;
      found = answers.nextWake(list, since, now);
    }
    expect(found).toEqual({ wake: Date.parse('2030-10-26T07:00:00Z') });
    // A manager that begins later finds the same, step by step.
    const later = new ScheduleAnswers();
    const days = since + 72 * hourMs;
    let same = later.nextWake(list, since, days);
    for (let asked = 0; asked < 40 && same.wake === undefined; asked += 1) same = later.nextWake(list, since, days);
    expect(same).toEqual(found);
  });

  test('is what a search from the beginning finds, in any order of questions', () => {
    const asked = fc.tuple(fc.nat({ max: lists.length - 1 }), fc.integer({ min: 0, max: 96 * 60 }));
    fc.assert(
      fc.property(fc.array(asked, { minLength: 1, maxLength: 12 }), (all) => {
        const answers = new ScheduleAnswers();
        for (const [index, minutes] of all) {
          const after = begin + minutes * 60_000;
          const { wake } = answers.nextWake(lists[index] ?? [], after, after);
          const fresh = new ScheduleAnswers().nextWake(lists[index] ?? [], after, after);
          expect(wake).toBe(fresh.wake);
        }
      }),
      { numRuns: 20 },
    );
  });
});

test('A time to sleep that has begun is known to go on or to have ended, also where one schedule follows on another', () => {
  const answers = new ScheduleAnswers();
  const nights = lists[0] ?? [];
  const evening = Date.parse('2030-10-25T19:00:00Z');
  expect(answers.hasSlept(nights, evening, evening + 4 * hourMs)).toBe(true);
  expect(answers.hasSlept(nights, evening, evening + 28 * hourMs)).toBe(false);
  // Always asleep, by turns.
  const turns = [
    { sleep: '*/2 * * * *', wake: '1-59/2 * * * *' },
    { sleep: '1-59/2 * * * *', wake: '*/2 * * * *' },
  ];
  for (const hours of [1, 5, 24, 24 * 30]) expect(answers.hasSlept(turns, begin, begin + hours * hourMs)).toBe(true);
});

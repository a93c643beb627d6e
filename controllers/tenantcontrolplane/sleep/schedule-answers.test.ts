import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ScheduleAnswers } from './schedule-answers.ts';
import { readSchedule, scheduledSleep } from './scheduled-sleep.ts';
import type { ReadSchedule } from './scheduled-sleep.ts';

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
        expect(answers.at(lists[index] ?? [], now)).toMatchObject(scheduledSleep(read(index), now));
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

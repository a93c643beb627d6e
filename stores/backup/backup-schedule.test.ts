import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextBackup, ScheduleError } from './backup-schedule.ts';

const at = (text: string): Date => new Date(text);
const minute = 60_000;

describe('The next backup', () => {
  test.each([
    ['an interval', { interval: '1h30m' }, '2030-01-01T10:00:00Z', '2030-01-01T11:30:00.000Z'],
    ['every hour', { schedule: '0 * * * *' }, '2030-01-01T10:00:00Z', '2030-01-01T11:00:00.000Z'],
    ['a nickname', { schedule: '@daily' }, '2030-01-01T10:00:00Z', '2030-01-02T00:00:00.000Z'],
    [
      'a time zone',
      { schedule: '0 3 * * *', timeZone: 'Europe/Berlin' },
      '2030-06-01T10:00:00Z',
      '2030-06-02T01:00:00.000Z',
    ],
    // The clock goes from 02:00 to 03:00 on 2030-03-31.
    [
      'an hour that does not exist on this day',
      { schedule: '30 2 * * *', timeZone: 'Europe/Berlin' },
      '2030-03-30T12:00:00Z',
      '2030-03-31T01:30:00.000Z',
    ],
  ])('of %s', (_what, schedule, after, expected) => {
    expect(nextBackup(schedule, at(after))?.toISOString()).toBe(expected);
  });

  test.each([
    [{ schedule: 'hourly' }, 'schedule', '"hourly" is not a schedule: '],
    [{ schedule: '0 0 * * * *' }, 'schedule', 'use five fields'],
    [{ schedule: '61 * * * *', timeZone: 'Europe/Berlin' }, 'schedule', '"61 * * * *" is not a schedule: '],
    [{ schedule: '0 * * * *', timeZone: 'Europe/Nowhere' }, 'timeZone', '"Europe/Nowhere" is not a time zone: '],
  ])('of %j is refused, with the field that is wrong', (schedule, field, message) => {
    const next = (): unknown => nextBackup(schedule, at('2030-01-01T00:00:00Z'));
    expect(next).toThrow(ScheduleError);
    expect(next).toThrow(expect.objectContaining({ field, message: expect.stringContaining(message) }));
  });

  test('is later than the one before, and at a whole minute that the expression names', () => {
    const moments = fc.date({ min: at('2020-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z'), noInvalidDate: true });
    fc.assert(
      fc.property(moments, fc.integer({ min: 0, max: 59 }), (after, wanted) => {
        const next = nextBackup({ schedule: `${wanted} * * * *` }, after);
        expect(next?.getUTCMinutes()).toBe(wanted);
        expect((next?.getTime() ?? 0) % minute).toBe(0);
        const passed = (next?.getTime() ?? 0) - after.getTime();
        expect(passed).toBeGreaterThan(0);
        expect(passed).toBeLessThanOrEqual(60 * minute);
      }),
    );
  });
});

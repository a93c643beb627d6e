import { expect, test } from '@jest/globals';

import { afterIdleMinutes, dayMoments, usualDay } from './day-trace.ts';

test('a day begins with a rest of all tenants, and each use ends with one', () => {
  const day = [
    { tenant: 'busy', uses: [{ from: 10, to: 14, everyMinutes: 2 }] },
    { tenant: 'other', uses: [{ from: 12, to: 12, everyMinutes: 1 }] },
    { tenant: 'idle', uses: [] },
  ];
  expect(dayMoments(day)).toEqual([
    { at: 0, calls: [], rests: ['busy', 'other', 'idle'] },
    { at: 10, calls: [{ tenant: 'busy', isFirst: true }], rests: [] },
    {
      at: 12,
      calls: [
        { tenant: 'busy', isFirst: false },
        { tenant: 'other', isFirst: true },
      ],
      rests: ['other'],
    },
    { at: 14, calls: [{ tenant: 'busy', isFirst: false }], rests: ['busy'] },
  ]);
});

test('the usual day has two who come first, and ends with the last call of the office', () => {
  const moments = dayMoments(usualDay);
  const first = moments.flatMap(({ calls }) => calls).filter(({ isFirst }) => isFirst);
  expect(first.map(({ tenant }) => tenant)).toEqual(['nightly', 'office']);
  expect(moments.at(-1)).toEqual({ at: 24 * 60, calls: [{ tenant: 'office', isFirst: false }], rests: [] });
});

test('no pause of the usual day is so long that the tenant would fall asleep', () => {
  const pauses = usualDay.flatMap(({ uses }) => uses.map(({ everyMinutes }) => everyMinutes));
  expect(Math.max(...pauses)).toBeLessThan(afterIdleMinutes);
});

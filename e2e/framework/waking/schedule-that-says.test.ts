import { expect, test } from '@jest/globals';

import { scheduleThatSays } from './schedule-that-says.ts';

test('A schedule that says so began to say so some minutes ago, also around midnight, and ends half a day later', () => {
  const now = Date.UTC(2030, 0, 5, 0, 1, 30);
  expect(scheduleThatSays('asleep', now)).toEqual({ sleep: '58 23 * * *', wake: '1 12 * * *' });
  expect(scheduleThatSays('awake', now)).toEqual({ sleep: '1 12 * * *', wake: '58 23 * * *' });
});

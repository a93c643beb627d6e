import { expect, test } from '@jest/globals';
import { TimeLimits } from './time-limits.ts';

test('a limit is extended once, however often its hook begins', () => {
  const limits = new TimeLimits(2);
  const [hook, other] = [{ timeout: 1000 }, { timeout: 3000 }];
  for (const each of [hook, other, hook]) limits.extend(each);
  expect([hook.timeout, other.timeout]).toEqual([2000, 6000]);
});

test.each([undefined, null])('where there is none (%s), none is made', (timeout) => {
  const limited = { timeout };
  new TimeLimits(2).extend(limited);
  expect(limited).toEqual({ timeout });
});

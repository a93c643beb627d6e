import { expect, test } from '@jest/globals';
import { givenSlowness } from './slowness.ts';

test('the machine is not slow by default', () => {
  expect(givenSlowness('')).toBeUndefined();
});

test('a number sets how many times slower it is', () => {
  expect(givenSlowness('1.75')).toBe(1.75);
});

test.each(['fast', '0', '-1', 'Infinity', 'NaN'])('%s is refused with the valid values', (text) => {
  expect(() => givenSlowness(text)).toThrow(`STEWARD_SLOWER is "${text}": give a number, 2 for twice the time.`);
});

import { expect, test } from '@jest/globals';
import { givenSlowness } from './slowness.ts';

test('nothing is said of the machine unless somebody says it', () => {
  expect(givenSlowness('')).toBeUndefined();
});

test('a number says how many times slower it is', () => {
  expect(givenSlowness('1.75')).toBe(1.75);
});

test.each(['fast', '0', '-1', 'Infinity', 'NaN'])('%s is refused with what to give', (text) => {
  expect(() => givenSlowness(text)).toThrow(`STEWARD_SLOWER is "${text}": give a number, 2 for twice the time.`);
});

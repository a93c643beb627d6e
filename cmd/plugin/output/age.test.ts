import { expect, test } from '@jest/globals';
import { age } from './age.ts';

const now = new Date('2026-11-26T10:00:00Z');
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();
const [minute, hour, day] = [60, 3600, 86_400];

test.each([
  [0, '0s'],
  [119, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 5, '2m5s'],
  [10 * minute + 5, '10m'],
  [3 * hour, '3h'],
  [3 * hour + 20 * minute, '3h20m'],
  [9 * hour + 20 * minute, '9h'],
  [47 * hour, '47h'],
  [2 * day + hour, '2d1h'],
  [8 * day + hour, '8d'],
  [731 * day, '2y1d'],
  [-5, '0s'],
])('%d seconds are %s', (seconds, expected) => {
  expect(age(ago(seconds), now)).toBe(expected);
});

test('an object without a time has no age', () => {
  expect(age(undefined, now)).toBe('<unknown>');
});

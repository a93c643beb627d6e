import { expect, test } from '@jest/globals';

import { restMs } from './cpu-budget.ts';

test('a client that has used less than its part of a core goes on at once', () => {
  expect(restMs(0, 0)).toBe(0);
  expect(restMs(590, 1000)).toBe(0);
});

test('a client that has used more rests until it is its part', () => {
  expect(restMs(900, 1000)).toBeCloseTo(500);
  expect((900 / (1000 + restMs(900, 1000))) * 100).toBeCloseTo(60);
});

test('a client does not rest for less than a timer is worth', () => {
  expect(restMs(602, 1000)).toBe(0);
  expect(restMs(603, 1000)).toBeCloseTo(5);
});

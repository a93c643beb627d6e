import { expect, test } from '@jest/globals';
import { hostileRatios, usualPercentile } from './hostile-bounds.ts';

test('one slow round of three does not decide about the usual percentile', () => {
  expect(usualPercentile([1, 2, 3, 10, 20, 30, 1, 2, 5], 3, 100)).toBe(5);
});

test('two slow rounds of three do', () => {
  expect(usualPercentile([1, 2, 3, 10, 20, 30, 10, 20, 40], 3, 100)).toBe(30);
});

test('the ratios compare rounds of the same size, however many there are', () => {
  const row = {
    does: 'cut',
    hostile: 1,
    innocent: 2,
    seconds: 1,
    cpuPercent: 0,
    requestsPerSecond: 0,
    load: 0,
  } as const;
  const { median, p99 } = hostileRatios({ ...row, requests: {}, aloneMs: [1, 2, 1, 2], besideMs: [2, 4] });
  expect(median).toBe(2);
  expect(p99).toBe(2);
});

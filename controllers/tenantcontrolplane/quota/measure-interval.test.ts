import { expect, test } from '@jest/globals';
import { measureInterval } from './measure-interval.ts';

const mebi = 2 ** 20;
const quota = { dataSize: '1Gi', objects: 100_000, warnAtPercent: 80 };
const fast = { tookMs: 10 };

test('a tenant is measured before it can have reached a limit, but not more often than every three seconds', () => {
  expect(measureInterval(quota, { ...fast, bytes: 0, keys: 0 })).toBe(50_000);
  expect(measureInterval(quota, { ...fast, bytes: 0, keys: 90_000 })).toBe(5_000);
  expect(measureInterval(quota, { ...fast, bytes: 924 * mebi, keys: 0 })).toBe(5_000);
  expect(measureInterval(quota, { ...fast, bytes: 1023 * mebi, keys: 0 })).toBe(3_000);
  expect(measureInterval(quota, { ...fast, bytes: 2048 * mebi, keys: 0 })).toBe(3_000);
  expect(measureInterval(quota, undefined)).toBe(3_000);
});

test('a tenant far from its limits is measured every minute', () => {
  expect(measureInterval({ dataSize: '1Ti', warnAtPercent: 80 }, { ...fast, bytes: 0, keys: 0 })).toBe(60_000);
  expect(measureInterval({ objects: 1_000_000, warnAtPercent: 80 }, { ...fast, bytes: 0, keys: 0 })).toBe(60_000);
});

test('measuring takes a fifth of the time at most', () => {
  expect(measureInterval(quota, { bytes: 1023 * mebi, keys: 0, tookMs: 5_000 })).toBe(20_000);
});

import { expect, test } from '@jest/globals';
import { countInterval, measureInterval } from './measure-interval.ts';
import { afterCount, firstBucket } from './writes-bucket.ts';

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

test('writes are counted before a tenant can have made all that it may, and when it may write again', () => {
  const count = (writes: number) => ({ source: 'default/tenant', writes, atMs: 0 });
  const bucket = (limit: number, written: number) => afterCount(firstBucket(limit, count(0), false), count(written));
  expect(countInterval(undefined, 10)).toBe(3_000);
  expect(countInterval(bucket(10, 0), 10)).toBe(3_000);
  expect(countInterval(bucket(1000, 0), 10)).toBe(30_000);
  expect(countInterval(bucket(1000, 50_000), 10)).toBe(5_000);
  expect(countInterval(bucket(5000, 0), 10)).toBe(60_000);
  expect(countInterval(bucket(100, 6_000), 10)).toBe(30_000);
  expect(countInterval(bucket(100, 60_000), 10)).toBe(60_000);
  expect(countInterval(bucket(100, 0), 5_000)).toBe(20_000);
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { fitLine } from '../footprint/fit-line.ts';
import { percentile } from './percentile.ts';
import { ratio } from './ratio.ts';
import { summarize } from './summary.ts';

const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });

describe('A percentile', () => {
  test('is the middle value of an odd series, whatever its order', () => {
    expect(percentile([9, 1, 5], 50)).toBe(5);
  });

  test('lies between the two middle values of an even series', () => {
    expect(percentile([1, 2, 4, 8], 50)).toBe(3);
  });

  test('of 0 and 100 is the minimum and the maximum, and never outside of them', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 100, noNaN: true }), (series, p) => {
        expect(percentile(series, 0)).toBe(Math.min(...series));
        expect(percentile(series, 100)).toBe(Math.max(...series));
        const found = percentile(series, p);
        expect(found).toBeGreaterThanOrEqual(Math.min(...series));
        expect(found).toBeLessThanOrEqual(Math.max(...series) * (1 + 1e-12));
      }),
    );
  });

  test('needs a value, and a number from 0 to 100', () => {
    expect(() => percentile([], 50)).toThrow(/at least one value/);
    expect(() => percentile([1], 101)).toThrow(/percentile 101/);
  });
});

test('A ratio compares medians with medians and worst cases with worst cases', () => {
  expect(ratio(summarize([2, 3, 8]), summarize([1, 2, 4]))).toEqual({ p50: 1.5, max: 2 });
});

test('A ratio to a floor of zero is refused', () => {
  expect(() => ratio(summarize([1]), summarize([0]))).toThrow(/floor of 0/);
});

describe('A fitted line', () => {
  test('goes through points that are on one line', () => {
    const number = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(
        number,
        number,
        fc.uniqueArray(number, { minLength: 2, maxLength: 10 }),
        (slope, intercept, places) => {
          const line = fitLine(places.map((x) => ({ x, y: slope * x + intercept })));
          expect(line.slope).toBeCloseTo(slope, 4);
          expect(line.intercept).toBeCloseTo(intercept, 2);
        },
      ),
    );
  });

  test('minimizes the distance to points that are not on one line', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 4, y: 5 },
      { x: 8, y: 8 },
    ];
    expect(fitLine(points).slope).toBeCloseTo(1);
  });

  test('needs two different points', () => {
    expect(() => fitLine([{ x: 4, y: 1 }])).toThrow(/two different x/);
    expect(() => fitLine([])).toThrow(/two different x/);
  });
});

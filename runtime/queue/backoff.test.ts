import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exponentialBackoff } from './backoff.ts';

describe('Exponential backoff', () => {
  test('doubles up to its cap and starts over after a reset', () => {
    const backoff = exponentialBackoff({ firstMs: 100, capMs: 1000, random: () => 1 });
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });

  test('stays in the upper half of each step', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 2000 }),
        (random, times) => {
          const backoff = exponentialBackoff({ firstMs: 500, capMs: 30_000, random: () => random });
          let wait = 0;
          for (let index = 0; index < times; index += 1) wait = backoff.next();
          const step = Math.min(30_000, 500 * 2 ** (times - 1));
          expect(wait).toBeGreaterThanOrEqual(step / 2);
          expect(wait).toBeLessThanOrEqual(step);
        },
      ),
    );
  });
});

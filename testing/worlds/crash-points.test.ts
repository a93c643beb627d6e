import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { crashPoints } from './crash-points.ts';

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, at) => at + 1);

describe('The points at which a manager dies', () => {
  test('are all of them in a test that runs alone', () => {
    expect(crashPoints(30, 'a test', null)).toEqual(upTo(30));
    expect(crashPoints([3, 5], 'a test', null)).toEqual([3, 5]);
  });

  test('are all of them if there are few', () => {
    expect(crashPoints(8, 'a test', 7)).toEqual(upTo(8));
    expect(crashPoints([], 'a test', 7)).toEqual([]);
  });

  test('are a quarter of many, spread evenly, in a run of all tests', () => {
    fc.assert(
      fc.property(fc.integer({ min: 32, max: 400 }), fc.nat(1000), (last, seed) => {
        const points = crashPoints(last, 'a test', seed);
        expect(points).toHaveLength(Math.ceil(last / 4));
        const gaps = [0, ...points, last + 1].map((point, at, all) => (all[at + 1] ?? point) - point);
        expect(Math.max(...gaps)).toBeLessThanOrEqual(8);
        expect(points.every((point) => point >= 1 && point <= last)).toBe(true);
      }),
    );
  });

  test('differ for another seed, and cover all over time', () => {
    const seen = new Set(Array.from({ length: 40 }, (_, seed) => crashPoints(60, 'a test', seed)).flat());
    expect([...seen].toSorted((a, b) => a - b)).toEqual(upTo(60));
  });
});

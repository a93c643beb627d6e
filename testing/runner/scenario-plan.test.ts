import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { leftOutForTime } from './scenario-plan.ts';

const seconds = new Map([
  ['tenants', 100],
  ['workers', 200],
  ['rotation', 200],
  ['rollouts', 300],
]);
const mayWait = ['rollouts', 'rotation'];

describe('scenarios and the time that is left', () => {
  test('all are run when they end in time', () => {
    expect(leftOutForTime({ seconds, mayWait, slowness: 1, secondsLeft: 400 })).toEqual([]);
  });

  test('the first that may wait is left out first, and no more than must be', () => {
    expect(leftOutForTime({ seconds, mayWait, slowness: 1, secondsLeft: 399 })).toEqual(['rollouts']);
    expect(leftOutForTime({ seconds, mayWait, slowness: 1, secondsLeft: 249 })).toEqual(['rollouts', 'rotation']);
  });

  test('a slower machine needs more time for the same', () => {
    expect(leftOutForTime({ seconds, mayWait, slowness: 2, secondsLeft: 799 })).toEqual(['rollouts']);
  });

  test('what may not wait is run, however late it is', () => {
    expect(leftOutForTime({ seconds, mayWait, slowness: 3, secondsLeft: 0 })).toEqual(mayWait);
  });

  test('one that nobody knows is not named', () => {
    expect(leftOutForTime({ seconds, mayWait: ['unknown'], slowness: 1, secondsLeft: 0 })).toEqual([]);
  });

  test('more time never leaves more out', () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.nat(2000), fc.double({ min: 0.5, max: 4, noNaN: true }), (a, more, slowness) => {
        const count = (secondsLeft: number): number =>
          leftOutForTime({ seconds, mayWait, slowness, secondsLeft }).length;
        expect(count(a + more)).toBeLessThanOrEqual(count(a));
      }),
    );
  });
});

import { expect, test } from '@jest/globals';

import { givenSeed, newSeed, seededNumber } from './run-seed.ts';

test('a seed is taken as it was given', () => {
  expect(givenSeed('')).toBeUndefined();
  expect(givenSeed('0')).toBe(0);
  expect(givenSeed('2147483647')).toBe(2_147_483_647);
});

test.each(['2147483648', '-1', '1.5', 'seven', ' 7'])('%j is no seed', (text) => {
  expect(() => givenSeed(text)).toThrow(`STEWARD_SEED is "${text}": give a whole number from 0 to 2147483647`);
});

test('a new seed can be given again', () => {
  const seed = newSeed();
  expect(givenSeed(String(seed))).toBe(seed);
});

test('a number is the same for a seed and a purpose, and within its bounds', () => {
  const numbers = Array.from({ length: 200 }, (_, seed) => seededNumber(seed, 'round 1', 3, 8));
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, seed) => seededNumber(seed, 'round 1', 3, 8)));
  expect([...new Set(numbers)].toSorted()).toEqual([3, 4, 5, 6, 7]);
  expect(Array.from({ length: 200 }, (_, seed) => seededNumber(seed, 'round 2', 3, 8))).not.toEqual(numbers);
});

test('there is no number in an empty range', () => {
  expect(() => seededNumber(1, 'round 1', 3, 3)).toThrow('round 1: there is no number from 3 to below 3');
});

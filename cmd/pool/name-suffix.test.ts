import { expect, test } from '@jest/globals';
import { nameSuffix } from './name-suffix.ts';

test('suffixes of names are eight letters and digits, and different ones', () => {
  const some = Array.from({ length: 1000 }, nameSuffix);
  expect(some.filter((one) => !/^[bcdfghj-np-tv-xz24-9]{8}$/.test(one))).toEqual([]);
  expect(new Set(some).size).toBe(1000);
});

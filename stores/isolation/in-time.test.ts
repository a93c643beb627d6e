import { expect, test } from '@jest/globals';
import { inTime } from './in-time.ts';

test('gives the result of work that ends in time', async () => {
  expect(await inTime(Promise.resolve(1), 1000)).toBe(1);
  await expect(inTime(Promise.reject(new Error('refused')), 1000)).rejects.toThrow('refused');
});

test('gives up work that never ends', async () => {
  await expect(inTime(new Promise(() => undefined), 1)).rejects.toThrow('no answer within 0.001 s');
});

import { describe, expect, test } from '@jest/globals';

import { WrittenData } from './written-data.ts';

const written = (count: number, room: { readonly objects: number; readonly bytes: number }, size = 10): WrittenData => {
  const data = new WrittenData(room, size);
  for (let at = 1; at <= count; at += 1) data.accept(at);
  return data;
};

describe('The time until a flood is denied', () => {
  test('begins with the write that reaches the number of objects, and ends with the first denial', () => {
    const data = written(5, { objects: 3, bytes: 1e6 });
    data.deny(9);
    data.accept(10);
    data.deny(11);
    expect(data.deniedAfterMs).toBe(9 - 3);
    expect([data.accepted, data.denied]).toEqual([6, 2]);
  });

  test('begins with the write that reaches the number of bytes', () => {
    const data = written(5, { objects: 100, bytes: 15 });
    data.deny(9);
    expect(data.deniedAfterMs).toBe(9 - 2);
  });

  test('is unknown while nothing is denied', () => {
    expect(written(5, { objects: 3, bytes: 1e6 }).deniedAfterMs).toBeUndefined();
  });

  test('is none when the quota has counted more than the flood', () => {
    const data = written(2, { objects: 3, bytes: 1e6 });
    data.deny(3);
    data.accept(4);
    expect(data.deniedAfterMs).toBe(0);
  });
});

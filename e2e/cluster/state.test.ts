import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { assertName, claim, claims, release } from './state.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'claims-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('claim', () => {
  test('gives every number to one holder only, also if all claim at once', async () => {
    const holders = ['a', 'b', 'c', 'd'];
    const taken = await Promise.all(holders.map((holder) => claim(folder, [1, 2, 3, 4], holder)));
    expect(new Set(taken).size).toBe(4);
    await expect(claim(folder, [1, 2, 3, 4], 'e')).rejects.toThrow(/Nothing is free/);
  });

  test('is released by its holder only', async () => {
    await claim(folder, [7], 'a');
    await release(folder, 7, 'b');
    expect(await claims(folder)).toEqual(new Map([[7, 'a']]));
    await release(folder, 7, 'a');
    expect(await claims(folder)).toEqual(new Map());
  });
});

test.each(['', '-a', 'a-', 'A', 'a.b', 'a/b', '..', 'x'.repeat(64)])('the name %j is refused', (name) => {
  expect(() => {
    assertName(name);
  }).toThrow(/lower-case letters/);
});

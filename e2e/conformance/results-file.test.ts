import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { ResultsFile } from './results-file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'results-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe('The file of results', () => {
  test('keeps the newest result of each test for the next run', async () => {
    const file = path.join(folder, 'a', 'results.json');
    const first = await ResultsFile.open(file);
    await first.add([{ name: 'x', outcome: 'failed', seconds: 1 }]);
    await first.add([{ name: 'x', outcome: 'passed', seconds: 2 }]);
    expect((await ResultsFile.open(file)).all).toEqual([{ name: 'x', outcome: 'passed', seconds: 2 }]);
  });

  test('keeps the result of a test that was interrupted in a later run', async () => {
    const results = await ResultsFile.open(path.join(folder, 'b.json'));
    await results.add([{ name: 'x', outcome: 'failed', seconds: 1 }]);
    await results.add([
      { name: 'x', outcome: 'interrupted', seconds: 2 },
      { name: 'y', outcome: 'interrupted', seconds: 2 },
    ]);
    expect(results.all.map(({ outcome }) => outcome)).toEqual(['failed', 'interrupted']);
  });
});

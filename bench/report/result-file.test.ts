import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { readResult, writeResult } from './result-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'results-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('A result contains what was measured, the commit, the time, the machine and the command', async () => {
  const rows = [{ tenants: 4, rssMiB: 80 }];
  const measured = { bench: 'footprint', command: 'npm run bench -- footprint', machine: { cores: 2 }, rows };
  const file = await writeResult(measured, folder);
  expect(file).toBe(path.join(folder, 'footprint.json'));
  const result = await readResult('footprint', folder);
  expect(result).toMatchObject(measured);
  expect(result.commit).toMatch(/^[0-9a-f]{7,}(-dirty)?$/);
  expect(Date.parse(result.date)).toBeGreaterThan(0);
});

test('A result without a commit is refused with the name of its file', async () => {
  await writeFile(path.join(folder, 'ready.json'), '{ "bench": "ready" }');
  await expect(readResult('ready', folder)).rejects.toThrow(/ready\.json has no commit/);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { MinorResult } from './minor-result.ts';
import { readMinorResults, recordMinor } from './results-file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'minors-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const result = (version: string, outcome: MinorResult['outcome']): MinorResult => ({
  ...{ version, outcome, date: '2026-11-26T02:03:04.000Z', commit: 'abc1234' },
});

describe('The file of minors', () => {
  test('has the newest result of each minor, also of another patch, the newest minor first', async () => {
    const file = path.join(folder, 'results.json');
    await writeFile(file, '[]');
    for (const each of [result('v1.29.15', 'failed'), result('v1.31.4', 'failed'), result('v1.31.5', 'passed')])
      await recordMinor(each, file);
    expect(await readMinorResults(file)).toEqual([result('v1.31.5', 'passed'), result('v1.29.15', 'failed')]);
  });
});

describe('The committed results', () => {
  test('are one for each minor, with what a reader must know of a run', async () => {
    const results = await readMinorResults();
    const minors = results.map(({ version }) => version.replace(/\.\d+$/, ''));
    expect(new Set(minors).size).toBe(minors.length);
    for (const { version, date, commit, outcome, secondsToReady, upgrade, noUpgrade, error } of results) {
      expect(version).toMatch(/^v1\.\d+\.\d+$/);
      expect(new Date(date).toISOString()).toBe(date);
      expect(commit).toMatch(/^[0-9a-f]{7,}$/);
      if (outcome === 'failed') expect(error).toBeTruthy();
      else {
        expect(secondsToReady).toBeGreaterThan(0);
        expect(upgrade?.failedCalls ?? noUpgrade).toEqual(upgrade === undefined ? expect.any(String) : 0);
      }
    }
  });
});

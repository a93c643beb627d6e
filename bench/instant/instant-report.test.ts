import { describe, expect, test } from '@jest/globals';

import { compareKeys } from './compare-keys.ts';
import { instantPresentation, isTooSlowOrShared } from './instant-report.ts';
import type { InstantRow } from './instant-rows.ts';

const row = (changes: Partial<InstantRow> = {}): InstantRow => ({
  ...{ version: 'v1.36.3', reserve: 4, floorMs: [3600, 3800, 4400] },
  claims: [100, 200, 300].map((readyzMs) => ({ kubeconfigMs: readyzMs - 20, readyzMs })),
  keys: { controlPlanes: 7, keys: 70, shared: 0 },
  idle: { controlPlanes: 4, seconds: 60, rssMiB: 400, anonymousMiB: 250.4, milliCpu: 41 },
  ...changes,
});

describe('The report of prepared control planes', () => {
  test('shows how long claims take, against control planes without a pool', () => {
    const lines = instantPresentation
      .report([row()])
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' '));
    expect(lines).toContain('| claim: first `/readyz` | 0.20 | 0.30 | 0.30 | 3 |');
    expect(lines).toContain('| without a pool: first `/readyz` | 3.80 | 4.39 | 4.40 | 3 |');
    expect(lines).toContain('7 control planes have 70 private keys, and there is no key of two.');
    expect(lines.join('\n')).toContain('each of 4 took 250 MiB of memory of its own');
  });

  test('sums up the median, the 99th percentile and the ratio', () => {
    const [first, second] = instantPresentation.headlines?.([row()]) ?? [];
    expect(first).toMatchObject({ value: '0.20 (0.30)', floor: '3.80', times: '0.05' });
    expect(second?.value).toBe('250');
    expect(instantPresentation.headlines?.([row({ floorMs: [] })])[0]).not.toHaveProperty('floor');
  });

  test('is broken by claims that take a second, by shared keys, and by nothing that was measured', () => {
    expect(isTooSlowOrShared([row()])).toBe(false);
    expect(isTooSlowOrShared([row({ claims: [{ kubeconfigMs: 900, readyzMs: 1001 }] })])).toBe(true);
    expect(isTooSlowOrShared([row({ keys: { controlPlanes: 2, keys: 9, shared: 1 } })])).toBe(true);
    expect(isTooSlowOrShared([row({ claims: [] })])).toBe(true);
    expect(isTooSlowOrShared([])).toBe(true);
  });
});

test('keys that several control planes have are counted', () => {
  const planes = [['a', 'b'], ['c', 'd'], ['b', 'e'], ['b']].map((keys) => new Set(keys));
  expect(compareKeys(planes)).toEqual({ controlPlanes: 4, keys: 5, shared: 1 });
});

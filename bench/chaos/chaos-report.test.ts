import { describe, expect, test } from '@jest/globals';

import { chaosPresentation, growth, isBroken } from './chaos-report.ts';
import type { ChaosRow } from './chaos-rows.ts';

const row: ChaosRow = {
  ...{ seed: 5, minutes: 30, managers: 3, tenants: { standIn: 300, real: 10 } },
  faults: { killed: 10, hung: 11, partitioned: 12, throttled: 13, expired: 14, 'store restarted': 15 },
  changes: { rolled: 500, created: 101, deleted: 102, repeated: 20 },
  ...{ convergedMs: 42_400, unconverged: [], doubled: [], missing: [] },
  writes: { acknowledged: 9000, failed: 80, lost: 0 },
  ...{ takeovers: 9, endedByThemselves: 8 },
  ...{ rssMiB: [300, 310, 320, 330, 320, 310], restedRssMiB: 280 },
};

describe('A run with faults', () => {
  test('is broken by whatever is not as asked for, too many, missing or lost, and by memory that grows', () => {
    expect(isBroken(row)).toBe(false);
    const { convergedMs, ...never } = row;
    expect(convergedMs).toBeDefined();
    for (const broken of [
      never,
      { ...row, unconverged: ['a/b is not Ready'] },
      { ...row, doubled: ['a/b: Secret x'] },
      { ...row, missing: ['a/b: Secret x'] },
      { ...row, writes: { ...row.writes, lost: 1 } },
      { ...row, rssMiB: [300, 300, 320, 330, 350, 350] },
    ])
      expect(isBroken(broken)).toBe(true);
  });

  test('compares memory by thirds, and says nothing of growth after less than three looks', () => {
    expect(growth([100, 100, 500, 500, 200, 200])).toBe(2);
    expect(growth([100, 900])).toBe(1);
  });

  test('shows how often each fault happened and what is odd', () => {
    const text = chaosPresentation.report([{ ...row, doubled: ['fleet-0/tenant-3: Secret x'] }]);
    expect(text).toMatch(/\| hung +\| .* \| +11 /);
    expect(text).toContain('- fleet-0/tenant-3: Secret x');
    expect(text).toContain('times that another manager took over');
    const shared = chaosPresentation.report([{ ...row, shards: true }]);
    expect(shared).toContain('with 3 managers that share the tenants (`--shards`) over');
    expect(shared).not.toContain('took over');
    expect(text).toMatch(/time until all tenants were as asked for, after the end +\| +42 s/);
  });
});

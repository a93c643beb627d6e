import { describe, expect, test } from '@jest/globals';

import type { DensityRow } from './density-rows.ts';
import { nextStep } from './density-steps.ts';
import type { Limits } from './density-steps.ts';

const spread = (p99: number) => ({ count: 100, p50: 2, p90: 5, p99, most: p99 });

const row = (more: Partial<DensityRow> = {}): DensityRow => ({
  ...{ series: 'postgres', tenants: 100, seconds: 20, others: spread(20), measured: spread(30), failed: 0 },
  ...{ cores: { server: 0.4, kine: 0.4, client: 0.2, others: 0 }, busy: 0.5 },
  ...{ memoryMiB: { server: 500, kine: 3000, client: 200, available: 16_000 }, connections: 500, diskMiB: 900 },
  ...more,
});

const steps = [10, 100, 300];
const limits: Limits = {
  ...{ availableAtFirst: 20_000, filesOfTenant: 60, mostFiles: 20_000, leftMs: 100_000, tenantMs: 100 },
};

describe('After a measured number of tenants', () => {
  test('follows the next one', () => {
    expect(nextStep(row(), steps, limits)).toEqual({ tenants: 300 });
  });

  test.each([
    ['slow', { others: spread(1001) }],
    ['slow', { measured: spread(1001) }],
    ['failed', { failed: 1 }],
    ['failed', { others: undefined, measured: undefined }],
    ['processors', { busy: 0.98 }],
    ['steps', { tenants: 300 }],
  ] as const)('the curve ends as %s', (end, more) => {
    expect(nextStep(row(more), steps, limits)).toEqual({ end });
  });

  test('a write of exactly one second is not slow', () => {
    expect(nextStep(row({ others: spread(1000) }), steps, limits)).toEqual({ tenants: 300 });
  });

  test('as many follow as the memory holds, in tens, with 2 GiB left', () => {
    // 100 tenants took 4000 MiB of 14,000: so each takes 40, and 10,000 less 2048 are free for 198.
    const memoryMiB = { ...row().memoryMiB, available: 10_000 };
    expect(nextStep(row({ memoryMiB }), steps, { ...limits, availableAtFirst: 14_000 })).toEqual({ tenants: 290 });
  });

  test('the curve ends where the machine has no memory for noticeably more', () => {
    const memoryMiB = { ...row().memoryMiB, available: 2_500 };
    expect(nextStep(row({ memoryMiB }), steps, limits)).toEqual({ end: 'memory' });
  });

  test('as many follow as a process may have files for', () => {
    expect(nextStep(row(), steps, { ...limits, mostFiles: 9_000 })).toEqual({ tenants: 150 });
    expect(nextStep(row(), steps, { ...limits, mostFiles: 6_000 })).toEqual({ end: 'files' });
  });

  test('as many follow as can be added in the time that is left', () => {
    expect(nextStep(row(), steps, { ...limits, leftMs: 12_345 })).toEqual({ tenants: 220 });
    expect(nextStep(row(), steps, { ...limits, leftMs: -1 })).toEqual({ end: 'time' });
  });
});

import { describe, expect, test } from '@jest/globals';

import { curvesOf, densityLine, densityPresentation, endOf } from './density-report.ts';
import { spreadOf, worstP99 } from './density-rows.ts';
import type { DensityRow } from './density-rows.ts';

const row = (more: Partial<DensityRow>): DensityRow => ({
  ...{ series: 'mysql', tenants: 10, seconds: 20, failed: 0 },
  others: { count: 432, p50: 2.5, p90: 5, p99: 20, most: 44 },
  measured: { count: 248, p50: 2, p90: 4, p99: 21, most: 30 },
  ...{ cores: { server: 0.125, kine: 0.5, client: 0.1, others: 0.02 }, busy: 0.37 },
  ...{ memoryMiB: { server: 300, kine: 400, client: 90, available: 20_480 }, connections: 50, diskMiB: 210 },
  ...more,
});

const slow = { count: 4320, p50: 200, p90: 900, p99: 1500, most: 4000 };
const rows = [row({}), row({ tenants: 100, others: slow, end: 'slow' })];

const cellsOf = (report: string): readonly string[] =>
  report.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());

describe('The report of density', () => {
  test('has a table for each datastore, with a line for each number of tenants', () => {
    const report = densityPresentation.report([...rows, row({ series: 'nats', end: 'memory' })]);
    expect(report).toContain('### MariaDB\n');
    expect(report).toContain('### NATS\n');
    expect(cellsOf(report)).toContain(
      '| 10 | 34 | 2.5 | 20 | 44 | 2.0 | 21 | 0 | 0.13 | 0.50 | 0.10 | 0.02 | 37 | 300 | 400 | 90 | 50 | 210 |',
    );
  });

  test('says why each curve ends', () => {
    const busy = row({ series: 'postgres', tenants: 60, others: slow, end: 'slow', busy: 0.99 });
    const ends = curvesOf([...rows, row({ series: 'nats', tenants: 70, end: 'memory' }), busy]).map(endOf);
    expect(ends).toEqual([
      'The curve ends with 100 tenants: the 99th percentile of writes is above 1 s.',
      'The curve ends with 70 tenants: the memory of the machine is used up.',
      'The curve ends with 60 tenants: the 99th percentile of writes is above 1 s, and the processors of the machine are used up.',
    ]);
  });

  test('says when other programs took the processors', () => {
    const cores = { server: 0.1, kine: 0.3, client: 0.1, others: 1.44 };
    const [curve] = curvesOf([row({ cores, busy: 1, end: 'processors' })]);
    expect(curve && endOf(curve)).toBe(
      'The curve ends with 10 tenants: the processors of the machine are used up, of which other programs took 1.4 cores.',
    );
  });

  test('names the failure of what could not be measured, and has no line for it', () => {
    const broken = row({ tenants: 30, seconds: 0, failed: 1, failure: 'no room', end: 'failed', others: undefined });
    const report = densityPresentation.report([row({}), broken]);
    expect(report).toContain('The curve ends with 30 tenants: calls failed (no room).');
    expect(cellsOf(report).filter((line) => line.startsWith('| 30 '))).toEqual([]);
    expect(densityLine(broken)).toContain('failed: no room');
  });

  test('sums each datastore up with the most tenants within the bound', () => {
    const all = [...rows, row({ series: 'floor' }), row({ series: 'nats', tenants: 70, end: 'memory' })];
    expect(densityPresentation.headlines?.(all).map(({ value }) => value)).toEqual(['10', '70 or more']);
  });

  test('has no tenants within the bound where the first number is slow', () => {
    expect(densityPresentation.headlines?.([row({ others: slow, end: 'slow' })])[0]?.value).toBe('none');
  });
});

test('The percentile that counts is the longer one of the measured tenant and the others', () => {
  expect(worstP99(row({}))).toBe(21);
  expect(worstP99({})).toBeUndefined();
});

test('Samples are summed up in tenths of milliseconds', () => {
  const samples = Array.from({ length: 101 }, (_, at) => at + 0.04);
  expect(spreadOf(samples)).toEqual({ count: 101, p50: 50, p90: 90, p99: 99, most: 100 });
  expect(spreadOf([])).toBeUndefined();
});

import { expect, test } from '@jest/globals';

import type { ThroughputRow } from '../scale/scale-rows.ts';
import { sharingPresentation } from './sharing-report.ts';

const row = (managers: number, over: Partial<ThroughputRow>): ThroughputRow => ({
  ...{ stage: 'throughput', tenants: 100, lagP99Ms: 20, lagMaxMs: 90, readyMs: [1_000, 20_000], cpuSeconds: 10 },
  ...{ managementRequests: { GET: 1_500 }, tenantRequests: { call: 3_000, line: 900, probe: 77 } },
  ...(managers === 1 ? {} : { managers }),
  ...over,
});
const lines = (rows: readonly ThroughputRow[]): readonly string[] =>
  sharingPresentation
    .report(rows)
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));

test('The report of shared tenants compares what each tenant takes', () => {
  const found = lines([row(1, {}), row(3, { cpuSeconds: 15, readyMs: [1_000, 15_000] })]);
  expect(found).toContain('| 1 | 100 | 300 | 100 | 15.0 | 39.0 | 20 |');
  expect(found).toContain('| 3 | 100 | 400 | 150 | 15.0 | 39.0 | 20 |');
  expect(found.at(-1)).toMatch(
    /^3 managers made 1\.33 times as many .* 2\.0 times as many; at least 2\.5 .* not reached\.$/,
  );
});

test('The report of shared tenants says when it is reached', () => {
  expect(lines([row(1, {}), row(3, { cpuSeconds: 12 })]).at(-1)).toMatch(/ 2\.5 times as many; .* which is reached\.$/);
  expect(lines([row(1, {}), row(2, { cpuSeconds: 12 })]).at(-1)).toMatch(
    / 1\.7 times as many; at least 1\.7 are wanted/,
  );
});

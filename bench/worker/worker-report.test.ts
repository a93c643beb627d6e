import { expect, test } from '@jest/globals';

import { workerPresentation } from './worker-report.ts';
import type { WorkerRow } from './worker-rows.ts';

test('The way to a worker is reported with each milestone, and summed up against a machine that joins by hand', () => {
  const timeline = { 'control plane Ready': 6000, 'node Ready': 20_000 };
  const rows: readonly WorkerRow[] = [
    { way: 'Cluster', timelines: [timeline, { ...timeline, 'node Ready': 26_000 }], busyBefore: [0, 0] },
    { way: 'by hand', timelines: [{ 'node Ready': 10_000 }, { 'node Ready': 6000 }], busyBefore: [0, 0] },
  ];
  const report = workerPresentation.report(rows).replaceAll(/ +/g, ' ');
  expect(report).toContain('| control plane Ready | 6.0 | 6.0 | 6.0 | | | |');
  expect(report).toContain('| node Ready | 20.0 | 23.0 | 26.0 | 6.0 | 8.0 | 10.0 |');
  expect(workerPresentation.headlines?.(rows)).toEqual([
    { figure: 'From `kubectl apply` of a Cluster to its first worker, s', value: '23.0 (26.0)' },
    expect.objectContaining({ value: '17.0 (20.0)', floor: '8.0 (10.0)', times: '2.13' }),
  ]);
});

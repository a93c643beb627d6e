import { expect, test } from '@jest/globals';

import type { DensityRow } from '../../../bench/density/density-rows.ts';
import type { ScaleRow } from '../../../bench/scale/scale-rows.ts';
import { datastoreSizes, managerSizes } from './sizing-tables.ts';

const measured = {
  ...{ bench: 'density', commit: 'abc1234', date: '2026-11-29T02:00:00Z', command: 'npm run bench -- density' },
  machine: { cores: 2 },
};

const spread = (p99: number) => ({ count: 432, p50: 2, p90: 5, p99, most: p99 });

const row = (more: Partial<DensityRow>): DensityRow => ({
  ...{ series: 'mysql', tenants: 50, seconds: 20, failed: 0, others: spread(20), measured: spread(31) },
  ...{ cores: { server: 0.25, kine: 0.5, client: 0.1, others: 0 }, busy: 0.4, connections: 250, diskMiB: 210 },
  ...{ memoryMiB: { server: 300, kine: 2000, client: 90, available: 20_480 } },
  ...more,
});

test('The sizes of datastores are those with the most tenants within the bound, and say what 500 connections carry', () => {
  const floor = row({ series: 'floor' });
  const text = datastoreSizes({
    ...measured,
    rows: [floor, row({}), row({ tenants: 100, others: spread(2000), end: 'slow' })],
  });
  expect(text).toContain(
    '| MariaDB | 50 | 31 ms | with 100, writes take longer | 300 MiB | 40 MiB | 0.50 cores | 1.00 cores | 5.0 | 100 |',
  );
  expect(text).not.toContain('floor');
  expect(text).toContain('commit abc1234');
});

test('A datastore that the machine was too small for carries that many or more', () => {
  const cores = { server: 0.25, kine: 0, client: 0.1, others: 0 };
  const text = datastoreSizes({ ...measured, rows: [row({ series: 'etcd', cores, end: 'memory' })] });
  expect(text).toContain('| etcd | 50 or more | 31 ms | with 50, the memory of the machine is used up | 300 MiB |  |');
});

test('A datastore that carries none says why', () => {
  const failed = row({ others: undefined, measured: undefined, failed: 1, failure: 'no room', end: 'failed' });
  expect(datastoreSizes({ ...measured, rows: [failed] })).toContain('| MariaDB | none |  | with 50, calls fail |');
});

test('The sizes of the manager are those at rest', () => {
  const rest = {
    ...{ stage: 'rest', tenants: 300, lagP99Ms: 1, lagMaxMs: 2, idleSeconds: 60, rssMiB: 507.3, heapMiB: 98 },
    ...{ cpuPercent: 6.87, seconds: 60, managementRequests: {}, connections: {} },
    tenantRequests: { call: 0, line: 0, probe: 0 },
  } satisfies ScaleRow;
  expect(managerSizes({ ...measured, rows: [rest] })).toContain('| 300 | 507 MiB | 69 millicores |');
});

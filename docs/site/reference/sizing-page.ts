import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { withFigures } from '../../../bench/report/figures.ts';
import { readResult } from '../../../bench/report/result-file.ts';
import { percentile } from '../../../bench/report/percentile.ts';
import { measuredOn } from '../../../bench/report/measured-on.ts';
import type { OneMoreRow } from '../../../bench/onemore/one-more-report.ts';
import type { DensityRow } from '../../../bench/density/density-rows.ts';
import type { ScaleRow } from '../../../bench/scale/scale-rows.ts';
import { datastoreSizes, managerSizes } from './sizing-tables.ts';

const mebibytes = (count: number): string => `${(Math.ceil(count / 10) * 10).toFixed(0)} MiB`;

const page = 'docs/how-to/size-a-management-cluster.md';

/** The page about sizes, with the figures of the committed measurements. */
export async function sizingPage(root: string): Promise<readonly [file: string, text: string]> {
  const [scale, density] = await Promise.all([readResult<ScaleRow>('scale'), readResult<DensityRow>('density')]);
  const before = await readFile(path.join(root, page), 'utf8');
  const withPods = withFigures(before, await sizingFigures());
  const withManager = withFigures(withPods, managerSizes(scale), 'the manager');
  return [page, withFigures(withManager, datastoreSizes(density), 'datastores')];
}

async function sizingFigures(): Promise<string> {
  const result = await readResult<OneMoreRow>('onemore');
  const { cores } = result.machine;
  const ours = result.rows.filter(({ contender }) => contender === 'Steward');
  const alone = ours.find(({ running }) => running === 0);
  const beside = ours.find(({ running }) => running > 0);
  if (alone === undefined || beside?.perTenantMiB === undefined || cores === undefined)
    throw new Error('bench/results/onemore.json has no row with many tenants: run `npm run bench -- onemore --record`');
  const busy = (row: OneMoreRow): number => percentile(row.busyBefore, 50) * cores;
  const each = ((busy(beside) - busy(alone)) / beside.running) * 1000;
  const [memory, tenants] = [beside.perTenantMiB, beside.running];
  const forTenants = (count: number): string =>
    `| ${count} | ${((count * memory) / 1024).toFixed(1)} GiB | ${((count * each) / 1000).toFixed(1)} cores |`;
  return [
    '| One idle control plane with one replica | |',
    '| --- | --- |',
    `| memory of the node | ${mebibytes(memory)} |`,
    `| processor time while nobody calls it, with its share of etcd and kubelet | ${Math.ceil(each)} millicores |`,
    '',
    '| Idle control planes, one replica each | Memory | Processor |',
    '| --- | --- | --- |',
    ...[10, 30, 100].map(forTenants),
    '',
    `Measured with ${tenants} control planes; the row of 100 is calculated. ${measuredOn(result)}`,
  ].join('\n');
}

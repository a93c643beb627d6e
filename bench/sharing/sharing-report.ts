import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import { reconcileRequests } from '../scale/reaches.ts';
import { total } from '../scale/scale-rows.ts';
import type { ThroughputRow } from '../scale/scale-rows.ts';

const managersOf = ({ managers = 1 }: ThroughputRow): number => managers;
const perMinute = (row: ThroughputRow): number => (row.tenants / (row.readyMs.at(-1) ?? Infinity)) * 60_000;
const cpuMs = ({ cpuSeconds, tenants }: ThroughputRow): number => (cpuSeconds * 1000) / tenants;

/** Three have to do at least as many times as much as one, and other numbers in proportion. */
const share = 2.5 / 3;

function sharingReport(rows: readonly ThroughputRow[]): string {
  const table = textTable(
    ['managers', 'tenants', 'Ready a minute', 'CPU, ms', 'management requests', 'tenant requests', 'lag p99, ms'],
    rows.map((row) => [
      ...[managersOf(row), row.tenants].map(String),
      ...[perMinute(row), cpuMs(row)].map((value) => value.toFixed(0)),
      (total(row.managementRequests) / row.tenants).toFixed(1),
      (reconcileRequests(row.tenantRequests) / row.tenants).toFixed(1),
      row.lagP99Ms.toFixed(0),
    ]),
  );
  const [alone] = rows;
  const texts = rows.slice(1).map((shared) => {
    if (alone === undefined) return '';
    const managers = managersOf(shared);
    const [times, wanted] = [(managers * cpuMs(alone)) / cpuMs(shared), managers * share];
    const verdict = times >= wanted ? 'which is reached' : 'which is not reached';
    return [
      `${managers} managers made ${(perMinute(shared) / perMinute(alone)).toFixed(2)} times as many Ready a minute, on the same processors.`,
      `By the CPU time that each tenant takes, with a processor for each they would make ${times.toFixed(1)} times as many; at least ${wanted.toFixed(1)} are wanted, ${verdict}.`,
    ].join(' ');
  });
  return [
    'Tenants created at once, for one manager and for several that share them (`--shards`), in the setting of [scale](scale.md). CPU and requests are of all managers together, for each tenant.',
    `\n${table}`,
    ...texts.map((text) => `\n${text}`),
  ].join('\n');
}

/** The benchmark of several managers that share the tenants. */
export const sharingPresentation: Presentation<ThroughputRow> = {
  name: 'sharing',
  title: 'Several managers that share the tenants',
  report: sharingReport,
};

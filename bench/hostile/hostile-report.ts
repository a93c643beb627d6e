import { breaksBound, hostileBounds, hostileRatios, usualPercentile } from './hostile-bounds.ts';
import type { HostileRow } from './hostile-bounds.ts';
import { percentile } from '../report/percentile.ts';
import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';

const heads = [
  'endpoints',
  'CPU %',
  'requests/s',
  'alone ms',
  'beside ms',
  'p99 ms',
  'ratio',
  'p99 ratio',
  'load',
  'within',
];

/** What hostile tenants cost, as a table. */
function hostileReport(rows: readonly HostileRow[]): string {
  const { cpuPercent, requestsPerSecond, ratio } = hostileBounds;
  const [first] = rows;
  return [
    `${first?.hostile ?? 0} hostile tenants, looked at for ${(first?.seconds ?? 0).toFixed(0)} s after as long; ${first?.innocent ?? 0} others made beside them, five times, against as many made alone before and after.`,
    `At most ${cpuPercent} % of a core, ${requestsPerSecond} requests a second and ${ratio} times the time are allowed. CPU time is that of the manager and of its management`,
    'cluster in memory, in one process; hostile endpoints are another one. Times are until Ready, of all tenants made at once; p99 is that of the usual round.\n',
    textTable(heads, rows.map(lineOf)),
  ].join('\n');
}

/** One row in a line. */
export function hostileLine(row: HostileRow): string {
  const requests = Object.entries(row.requests).slice(0, 6);
  const named = heads.map((head, n) => `${head} ${lineOf(row)[n] ?? ''}`).join(', ');
  return `${named}; requests: ${requests.map(([name, count]) => `${count} ${name}`).join(', ') || 'none'}`;
}

function lineOf(row: HostileRow): readonly string[] {
  const ratios = hostileRatios(row);
  return [
    row.does,
    row.cpuPercent.toFixed(1),
    row.requestsPerSecond.toFixed(2),
    percentile(row.aloneMs, 50).toFixed(0),
    percentile(row.besideMs, 50).toFixed(0),
    usualPercentile(row.besideMs, row.innocent, 99).toFixed(0),
    ratios.median.toFixed(2),
    ratios.p99.toFixed(2),
    row.load.toFixed(1),
    breaksBound(row) ? 'no' : 'yes',
  ];
}

/** The benchmark of tenants whose endpoints are hostile. */
export const hostilePresentation: Presentation<HostileRow> = {
  name: 'hostile',
  title: 'What tenants with hostile endpoints cost',
  report: hostileReport,
};

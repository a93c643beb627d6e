import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { DrainRow } from './measure-drain.ts';

/** The longest time for which writes may be denied besides the replacement of pods, in milliseconds. */
const mostPauseMs = 5000;

const heads = [
  ...['tenant', 'target', 'keys', 'writes', 'denied', 'failed writes', 'failed reads', 'lost'],
  ...['pause s', 'without rollout s', 'done after s'],
];

const outside = ({ pauseMs, rolloutMs }: DrainRow): number => pauseMs - rolloutMs;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** True when a tenant lost something, or was denied writes for too long. */
export function isDisturbed(row: DrainRow): boolean {
  const { lost, failedReads, target } = row;
  return lost > 0 || failedReads.length > 0 || target === '' || outside(row) > mostPauseMs;
}

/** The drain of a DataStore as its tenants saw it, as a table. */
function drainReport(rows: readonly DrainRow[]): string {
  const lines = rows.map((row) => [
    ...[row.tenant, row.target, String(row.keys), String(row.writes), String(row.denied)],
    ...[String(row.failedWrites.length), String(row.failedReads.length), String(row.lost)],
    ...[seconds(row.pauseMs), seconds(outside(row)), seconds(row.endedMs)],
  ]);
  return `Drain of the quick-start etcd into PostgreSQL, with tenants that write\n\n${textTable(heads, lines)}`;
}

/** The benchmark of a drain. */
export const drainPresentation: Presentation<DrainRow> = {
  name: 'drain',
  title: 'What tenants notice of a drain of their DataStore',
  report: drainReport,
  headlines: (rows) => [
    {
      figure: `Lost writes of ${rows.reduce((sum, { writes }) => sum + writes, 0).toLocaleString('en')} in a drain of ${rows.length} tenants`,
      value: String(rows.reduce((sum, { lost }) => sum + lost, 0)),
    },
    {
      figure: 'Longest time for which a drain denied writes besides the replacement of pods, s',
      value: seconds(Math.max(...rows.map(outside))),
    },
  ],
};

import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import { apiServerKinds } from './api-server-kinds.ts';
import { seriesOf, worstP99 } from './density-rows.ts';
import type { DensityRow, DensitySeries, End, Spread } from './density-rows.ts';
import { mostBusy, slowMs } from './density-steps.ts';
import { readsPerSecond, writesPerSecond } from './load/load-cycle.ts';

/** What people call the series. */
const titles: Readonly<Record<DensitySeries, string>> = {
  floor: 'the floor: nothing is stored',
  etcd: 'etcd',
  'etcd, one connection': 'etcd, with one connection for each tenant',
  postgres: 'PostgreSQL',
  mysql: 'MariaDB',
  nats: 'NATS',
};

/** Cores; the kernel's own work for a curve takes less. */
const muchOfOthers = 0.3;

/** Why a curve ended, after "ended with 100 tenants: ". */
const reasons: Readonly<Record<End, string>> = {
  slow: `the 99th percentile of writes is above ${slowMs / 1000} s`,
  failed: 'calls failed',
  processors: 'the processors of the machine are used up',
  memory: 'the memory of the machine is used up',
  files: 'a process may not have more files on this machine, and connections are files',
  time: 'the time for this curve was over',
  steps: 'more were not tried',
};

const heads = [
  ...['tenants', 'writes/s', 'p50 ms', 'p99', 'most', 'one tenant p50', 'p99', 'failed'],
  ...['server cores', 'kine', 'client', 'others', 'busy %'],
  ...['server MiB', 'kine', 'client', 'connections', 'disk MiB'],
];

/** A series with its end. */
export interface Curve {
  readonly series: DensitySeries;
  readonly title: string;
  readonly rows: readonly DensityRow[];
  /** The most tenants whose writes were within the bound; absent when there were none. */
  readonly within?: DensityRow;
  /** Why there are no more tenants. */
  readonly end: End;
  readonly endsWith: DensityRow;
}

/** Each series that has a row. */
export function curvesOf(rows: readonly DensityRow[]): readonly Curve[] {
  return [...seriesOf(rows)].flatMap(([series, all]) => {
    const endsWith = all.at(-1);
    const within = all.findLast((row) => row.failed === 0 && (worstP99(row) ?? Infinity) <= slowMs);
    if (endsWith === undefined) return [];
    const { end = 'steps' } = endsWith;
    return [{ series, title: titles[series], rows: all, ...(within && { within }), end, endsWith }];
  });
}

/** Why a curve has its end, in a few words. */
export function endText({ end, endsWith: { tenants } }: Curve): string {
  const words: Partial<Record<End, string>> = { slow: 'writes take longer', failed: 'calls fail' };
  return `with ${tenants}, ${words[end] ?? reasons[end]}`;
}

/** Why a curve has its end, as a sentence. */
export function endOf({ end, endsWith: { tenants, failure, connections, busy, cores } }: Curve): string {
  const why = end === 'failed' && failure !== undefined ? `${reasons.failed} (${failure})` : reasons[end];
  const files = end === 'files' ? `, ${connections} here` : '';
  const busily = end === 'slow' && busy >= mostBusy ? `, and ${reasons.processors}` : '';
  const isShared = (end === 'processors' || busily !== '') && cores.others >= muchOfOthers;
  const others = isShared ? `, of which other programs took ${cores.others.toFixed(1)} cores` : '';
  return `The curve ends with ${tenants} tenants: ${why}${files}${busily}${others}.`;
}

/** A table for each series, and where it ends. */
function densityReport(rows: readonly DensityRow[]): string {
  const curves = curvesOf(rows);
  const parts = curves.map((curve) => {
    const table = textTable(heads, curve.rows.filter(({ seconds }) => seconds > 0).map(rowCells));
    return `### ${curve.title[0]?.toUpperCase() ?? ''}${curve.title.slice(1)}\n\n${table}\n\n${endOf(curve)}`;
  });
  return [
    'One server of each datastore, with TLS and the settings of its quick start, and as many tenants as it carries. Manager sessions make the tenancies, each with its own',
    'credentials; behind PostgreSQL, MariaDB and NATS each tenant has a kine of its own. In place of an API server, a client does to the datastore what an idle one with two replicas and ten nodes',
    `does: ${writesPerSecond.toFixed(1)} renewals of leases of 500 bytes a second, each only if the lease is unchanged; ${readsPerSecond(apiServerKinds.length).toFixed(1)} reads a second, one for a probe and the others counts of objects;`,
    `a connection and a watch for each of ${apiServerKinds.length} kinds, with the notices that etcd and kine send on it every five seconds. "One tenant": one that renews a lease ten times a second besides.`,
    'Clients, kine and the server share the processors, which a real installation does not let them; "cores" says what each takes. The floor is the same load against a server that',
    'answers everything with the same. Tenants are minutes old: their history is short. Writes wait for the disk. Memory that several processes share is divided among them.',
    `A curve ends when a write takes more than ${slowMs / 1000} s in the 99th percentile, or when the machine is used up.\n`,
    parts.join('\n\n'),
  ].join('\n');
}

function rowCells(row: DensityRow): readonly string[] {
  const { tenants, seconds, others, measured, failed, cores, memoryMiB } = row;
  const writes = (others?.count ?? 0) + (measured?.count ?? 0);
  return [
    ...[String(tenants), (writes / seconds).toFixed(0), ...spreadCells(others), shown(others?.most)],
    ...[...spreadCells(measured), String(failed)],
    ...[cores.server, cores.kine, cores.client, cores.others].map((value) => value.toFixed(2)),
    (row.busy * 100).toFixed(0),
    ...[memoryMiB.server, memoryMiB.kine, memoryMiB.client].map((value) => value.toFixed(0)),
    ...[String(row.connections), row.diskMiB.toFixed(0)],
  ];
}

const spreadCells = (spread: Spread | undefined): readonly string[] => [shown(spread?.p50), shown(spread?.p99)];

const shown = (ms: number | undefined): string => (ms === undefined ? '' : ms.toFixed(ms < 10 ? 1 : 0));

/** One row in a line. */
export function densityLine(row: DensityRow): string {
  const cells = rowCells(row);
  const named = heads.map((head, at) => `${head} ${cells[at] ?? ''}`).join(', ');
  const failure = row.failure === undefined ? '' : `; failed: ${row.failure}`;
  return `${named}, ${(row.memoryMiB.available / 1024).toFixed(1)} GiB free${failure}${row.end === undefined ? '' : `; ends: ${row.end}`}`;
}

function headlines(rows: readonly DensityRow[]): readonly Headline[] {
  return curvesOf(rows)
    .filter(({ series }) => series !== 'floor' && series !== 'etcd, one connection')
    .map(({ title, within, end }) => ({
      figure: `Idle tenants in one ${title}, on one machine with clients and kine, whose writes take at most ${slowMs / 1000} s (p99)`,
      value: within === undefined ? 'none' : `${within.tenants}${end === 'slow' ? '' : ' or more'}`,
    }));
}

/** The benchmark of how many tenants a datastore carries. */
export const densityPresentation: Presentation<DensityRow> = {
  name: 'density',
  title: 'How many tenants a datastore carries',
  report: densityReport,
  headlines,
};

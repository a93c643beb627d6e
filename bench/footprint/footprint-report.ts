import { fitLine } from './fit-line.ts';
import type { Footprint } from './footprint-between.ts';
import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';

interface Column {
  readonly title: string;
  readonly digits: number;
  readonly value: (footprint: Footprint) => number | undefined;
  /** False for figures that are per tenant already. */
  readonly adds: boolean;
}

const columns: readonly Column[] = [
  { title: 'RSS, MiB', digits: 1, value: ({ rssMiB }) => rssMiB, adds: true },
  { title: 'anonymous, MiB', digits: 1, value: ({ anonymousMiB }) => anonymousMiB, adds: true },
  { title: 'CPU at rest, mCPU', digits: 2, value: ({ milliCpu }) => milliCpu, adds: true },
  { title: 'API requests/s', digits: 2, value: ({ requestsPerSecond }) => requestsPerSecond, adds: true },
  { title: 'CPU s per creation', digits: 2, value: ({ creationCpuSeconds }) => creationCpuSeconds, adds: false },
];

/** Footprints as a table, with what one more tenant costs by least squares as the last row. */
function footprintReport(footprints: readonly Footprint[]): string {
  const rows = footprints.map((footprint) => [
    String(footprint.tenants),
    ...columns.map(({ digits, value }) => value(footprint)?.toFixed(digits) ?? ''),
  ]);
  const slopes = columns.map(({ digits, value, adds }) => {
    const slope = adds ? oneMore(footprints, value) : undefined;
    return slope?.toFixed(digits + 1) ?? '';
  });
  const table = textTable(['tenants', ...columns.map(({ title }) => title)], [...rows, ['one more', ...slopes]]);
  return `The manager while tenants are idle. The last row is what one more tenant costs.\n\n${table}`;
}

/** What one more tenant costs by least squares; undefined without two measurements. */
function oneMore(footprints: readonly Footprint[], value: Column['value']): number | undefined {
  const points = footprints.flatMap((footprint) => {
    const y = value(footprint);
    return y === undefined ? [] : [{ x: footprint.tenants, y }];
  });
  return points.length > 1 ? fitLine(points).slope : undefined;
}

/** The benchmark of the manager beside idle tenants. */
export const footprintPresentation: Presentation<Footprint> = {
  name: 'footprint',
  title: 'What the manager needs for a tenant',
  report: footprintReport,
  headlines: (rows) => [
    {
      figure: `Memory of the manager for one more idle tenant, anonymous, MiB, of ${rows.at(-1)?.tenants ?? 0}`,
      value: oneMore(rows, ({ anonymousMiB }) => anonymousMiB)?.toFixed(2) ?? '',
    },
    {
      figure: 'CPU of the manager for one more idle tenant, thousandths of a core',
      value: oneMore(rows, ({ milliCpu }) => milliCpu)?.toFixed(2) ?? '',
    },
  ],
};

import { fitLine } from './fit-line.ts';
import type { Footprint } from './footprint-between.ts';
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
export function footprintReport(footprints: readonly Footprint[]): string {
  const rows = footprints.map((footprint) => [
    String(footprint.tenants),
    ...columns.map(({ digits, value }) => value(footprint)?.toFixed(digits) ?? ''),
  ]);
  const slopes = columns.map(({ digits, value, adds }) => {
    const points = footprints.flatMap((footprint) => {
      const y = value(footprint);
      return y === undefined ? [] : [{ x: footprint.tenants, y }];
    });
    return adds && points.length > 1 ? fitLine(points).slope.toFixed(digits + 1) : '';
  });
  return textTable(['tenants', ...columns.map(({ title }) => title)], [...rows, ['one more', ...slopes]]);
}

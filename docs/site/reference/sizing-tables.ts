import { measuredOn } from '../../../bench/report/measured-on.ts';
import type { BenchResult } from '../../../bench/report/result-file.ts';
import { curvesOf, endText } from '../../../bench/density/density-report.ts';
import { worstP99 } from '../../../bench/density/density-rows.ts';
import type { DensityRow } from '../../../bench/density/density-rows.ts';
import { rowsOf } from '../../../bench/scale/scale-rows.ts';
import type { ScaleRow } from '../../../bench/scale/scale-rows.ts';

/** Connections that the quick starts of PostgreSQL and MariaDB allow. */
const quickStartConnections = 500;

const table = (heads: readonly string[], lines: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...lines.map(line)].join('\n');
};

/** How many tenants each datastore carries, with where the figures come from. */
export function datastoreSizes(result: BenchResult<DensityRow>): string {
  const curves = curvesOf(result.rows).filter(({ series }) => series !== 'floor');
  const heads = [
    ...['Datastore', 'Tenants with p99 of writes within 1 s', 'p99 with them', 'Its curve ends, because'],
    ...['Memory of the server', 'of kine in each pod', 'Processor for 100 tenants', 'of their kine'],
    ...['Connections of a tenant', 'Tenants with 500 connections'],
  ];
  const lines = curves.map((curve) => {
    const { series, title, within, rows } = curve;
    if (within === undefined) return [title, 'none', '', endText(curve), ...Array.from({ length: 6 }, () => '')];
    const { tenants, memoryMiB, cores, connections } = within;
    const hasKine = cores.kine > 0;
    const isLimited = series === 'postgres' || series === 'mysql';
    const each = connections / tenants;
    const isMore = curve.end !== 'slow' && rows.at(-1) === within;
    return [
      ...[title, `${tenants}${isMore ? ' or more' : ''}`, `${(worstP99(within) ?? 0).toFixed(0)} ms`, endText(curve)],
      ...[`${memoryMiB.server.toFixed(0)} MiB`, hasKine ? `${(memoryMiB.kine / tenants).toFixed(0)} MiB` : ''],
      ...[`${((cores.server / tenants) * 100).toFixed(2)} cores`],
      ...[hasKine ? `${((cores.kine / tenants) * 100).toFixed(2)} cores` : '', each.toFixed(1)],
      isLimited ? String(Math.floor(quickStartConnections / each)) : '',
    ];
  });
  return `${table(heads, lines)}\n\n${measuredOn(result)}`;
}

/** What one manager takes, with where the figures come from. */
export function managerSizes(result: BenchResult<ScaleRow>): string {
  const lines = rowsOf(result.rows, 'rest').map(({ tenants, rssMiB, cpuPercent }) => [
    ...[String(tenants), `${rssMiB.toFixed(0)} MiB`, `${(cpuPercent * 10).toFixed(0)} millicores`],
  ]);
  return `${table(['Tenants', 'Memory of the manager', 'Processor at rest'], lines)}\n\n${measuredOn(result)}`;
}

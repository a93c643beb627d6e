import { medianAndWorst } from '../report/median-and-worst.ts';
import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';

/** One more control plane, created while others run. */
export interface OneMoreRow {
  readonly contender: string;
  /** Idle control planes with one replica that Steward runs meanwhile. */
  readonly running: number;
  /** Milliseconds until it is Ready, one for each round. */
  readonly readyMs: readonly number[];
  /** How busy the processors were before each round, 0 to 1: what the others and the management cluster use. */
  readonly busyBefore: readonly number[];
  /** Memory that the machine could no longer give away, for each running control plane, MiB; undefined without any. */
  readonly perTenantMiB?: number;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

function oneMoreReport(rows: readonly OneMoreRow[]): string {
  const heads = ['way', 'others that run', 'min', 'median', 'max', 'processors busy before, %'];
  const lines = rows.map(({ contender, running, readyMs, busyBefore }) => [
    ...[contender, String(running)],
    ...[0, 50, 100].map((p) => seconds(percentile(readyMs, p))),
    (percentile(busyBefore, 50) * 100).toFixed(0),
  ]);
  const perTenant = rows.find(({ perTenantMiB }) => perTenantMiB !== undefined)?.perTenantMiB;
  return [
    'Seconds until one more control plane with one replica is Ready, while others run on the same machine.',
    ...(perTenant === undefined
      ? []
      : [`Each of the others took ${perTenant.toFixed(0)} MiB of the machine's memory.`]),
    `\n${textTable(heads, lines)}`,
  ].join('\n');
}

function headlines(rows: readonly OneMoreRow[]): readonly Headline[] {
  const beside = rows.filter(({ running }) => running > 0);
  const [ours, floor] = [beside.find(({ contender }) => contender === 'Steward'), beside[1]];
  if (ours === undefined) return [];
  const times = floor === undefined ? '' : (percentile(ours.readyMs, 50) / percentile(floor.readyMs, 50)).toFixed(2);
  const perTenant: readonly Headline[] =
    ours.perTenantMiB === undefined
      ? []
      : [
          {
            figure: `Memory of a tenant with one replica, MiB, of ${ours.running}`,
            value: ours.perTenantMiB.toFixed(0),
          },
        ];
  return [
    {
      figure: `One more control plane is Ready while ${ours.running} run, s`,
      value: medianAndWorst(ours.readyMs),
      floor: medianAndWorst(floor?.readyMs ?? []),
      times,
    },
    ...perTenant,
  ];
}

/** The benchmark of one more control plane. */
export const oneMorePresentation: Presentation<OneMoreRow> = {
  name: 'onemore',
  title: 'One more tenant while many run',
  report: oneMoreReport,
  headlines,
};

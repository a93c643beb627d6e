import { medianAndWorst } from '../report/median-and-worst.ts';
import { percentile } from '../report/percentile.ts';
import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { UpgradeRow } from './measure-upgrades.ts';

const heads = [
  ...['Service', 'pods', 'from', 'to', 'calls', 'per s', 'failed', 'slowest ms', 'old, new connections', 'old, kept'],
  ...['watches', 'missed', 'rollout s', 'bare s', 'ratio'],
];

/** True when somebody noticed an upgrade: a call failed, a new connection led back to the old version, or a watch missed something. */
export function isHarmed({ failed, newcomersAnsweredByOld, missedEvents }: UpgradeRow): boolean {
  return failed.length > 0 || newcomersAnsweredByOld > 0 || missedEvents > 0;
}

/** Upgrades as their users saw them, as a table. */
function upgradeReport(rows: readonly UpgradeRow[]): string {
  const ratios = rows.map(({ rolloutMs, bareMs }) => rolloutMs / bareMs);
  const [least, median, most] = [0, 50, 100].map((p) => percentile(ratios, p).toFixed(2));
  return [
    'Upgrades under load. "old": calls that began after the new version had answered, and that the old one answered.\n',
    textTable(heads, rows.map(lineOf)),
    `\nrollout against the same pods by hand: ${least} / ${median} / ${most} (least, median, most)`,
  ].join('\n');
}

function lineOf(row: UpgradeRow): readonly string[] {
  return [
    ...[row.serviceType, String(row.replicas), row.from, row.to, String(row.calls), row.callsPerSecond.toFixed(0)],
    ...[String(row.failed.length), row.slowestCallMs.toFixed(0)],
    ...[String(row.newcomersAnsweredByOld), String(row.answeredByOld), String(row.watches), String(row.missedEvents)],
    ...[(row.rolloutMs / 1000).toFixed(1), (row.bareMs / 1000).toFixed(1), (row.rolloutMs / row.bareMs).toFixed(2)],
  ];
}

/** The benchmark of upgrades under load. */
export const upgradePresentation: Presentation<UpgradeRow> = {
  name: 'upgrade',
  title: 'What users notice of an upgrade',
  report: upgradeReport,
  headlines: (rows) => {
    const sum = (count: (row: UpgradeRow) => number): number => rows.reduce((all, row) => all + count(row), 0);
    const calls = sum((row) => row.calls).toLocaleString('en');
    const [ours, bare] = [rows.map(({ rolloutMs }) => rolloutMs), rows.map(({ bareMs }) => bareMs)];
    return [
      {
        figure: `Failed calls of ${calls} in ${rows.length} upgrades under load`,
        value: String(sum(({ failed }) => failed.length)),
      },
      {
        figure: 'Rollout of an upgrade under load, until only new pods are left, s',
        value: medianAndWorst(ours),
        floor: medianAndWorst(bare),
        times: percentile(
          rows.map(({ rolloutMs, bareMs }) => rolloutMs / bareMs),
          50,
        ).toFixed(2),
      },
    ];
  },
};

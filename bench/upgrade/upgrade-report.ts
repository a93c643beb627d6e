import { percentile } from '../report/percentile.ts';
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
export function upgradeReport(rows: readonly UpgradeRow[]): string {
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

import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { AutoscalingRow } from './measure-autoscaling.ts';
import type { PodCount } from './pod-counts.ts';

const heads = [
  ...['calls/s asked', 's', 'calls', 'per s', 'failed', 'lost writes', 'stale reads', 'slowest ms', 'floor ms'],
  ...['pods before', 'most', 'after'],
];

/** True when a call failed, a write was lost, or the pods did not become more and fewer again. */
export function isMissed(rows: readonly AutoscalingRow[]): boolean {
  const [rare, often, rareAgain] = rows;
  if (rare === undefined || often === undefined || rareAgain === undefined) return true;
  const isHarmed = rows.some(({ failed, lost, staleReads }) => failed.length + lost.length + staleReads > 0);
  return isHarmed || often.podsMost <= rare.podsAfter || rareAgain.podsAfter >= often.podsMost;
}

/** An autoscaled control plane under changing load: what its callers saw, and each change of its pods. */
function autoscalingReport(rows: readonly AutoscalingRow[]): string {
  return [
    'From one to four pods, 60 % of 200m CPU for each kube-apiserver. "floor": calls to the API server of the management cluster.\n',
    textTable(heads, rows.map(lineOf)),
    '\nPods and CPU at each change\n',
    textTable(['s', 'wanted', 'ready', 'CPU %'], changes(rows.flatMap(({ counts }) => counts)).map(countLine)),
  ].join('\n');
}

function lineOf(row: AutoscalingRow): readonly string[] {
  const { callsPerSecond, seconds, calls, failed, lost, staleReads, slowestCallMs, slowestFloorMs } = row;
  return [
    ...[String(callsPerSecond), seconds.toFixed(0), String(calls), (calls / seconds).toFixed(0)],
    ...[failed.length, lost.length, staleReads].map(String),
    ...[slowestCallMs.toFixed(0), slowestFloorMs.toFixed(0)],
    ...[row.podsBefore, row.podsMost, row.podsAfter].map(String),
  ];
}

function changes(counts: readonly PodCount[]): readonly PodCount[] {
  return counts.filter((count, at) => {
    const before = counts[at - 1];
    return before?.wanted !== count.wanted || before.ready !== count.ready;
  });
}

function countLine({ seconds, wanted, ready, cpuPercent }: PodCount): readonly string[] {
  return [seconds.toFixed(0), String(wanted), String(ready), cpuPercent === undefined ? '-' : String(cpuPercent)];
}

/** The benchmark of an autoscaled control plane. */
export const autoscalingPresentation: Presentation<AutoscalingRow> = {
  name: 'autoscaling',
  title: 'How the pods of an autoscaled control plane follow its load',
  report: autoscalingReport,
  headlines: (rows) => {
    const sum = (count: (row: AutoscalingRow) => number): number => rows.reduce((all, row) => all + count(row), 0);
    return [
      {
        figure: `Failed calls of ${sum(({ calls }) => calls).toLocaleString('en')} while a control plane was scaled by its load`,
        value: String(sum(({ failed }) => failed.length)),
      },
      {
        figure: `Pods of an autoscaled control plane at ${rows.map(({ callsPerSecond }) => callsPerSecond).join(', ')} calls a second`,
        value: rows.map(({ podsMost, podsAfter }, at) => (at === 1 ? podsMost : podsAfter)).join(', '),
      },
    ];
  },
};

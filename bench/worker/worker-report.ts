import { medianAndWorst } from '../report/median-and-worst.ts';
import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import { workerMilestones } from './worker-rows.ts';
import type { WorkerMilestone, WorkerRow, WorkerTimeline } from './worker-rows.ts';

const titles = { Cluster: 'from `kubectl apply` of a Cluster', 'by hand': 'joined by hand' } as const;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

function workerReport(rows: readonly WorkerRow[]): string {
  const heads = ['after', ...rows.flatMap(({ way }) => [`${titles[way]}: min`, 'median', 'max'])];
  const lines = workerMilestones.map((milestone) => [
    milestone,
    ...rows.flatMap(({ timelines }) => {
      const times = reached(timelines, milestone);
      return times.length === 0 ? ['', '', ''] : [0, 50, 100].map((p) => seconds(percentile(times, p)));
    }),
  ]);
  return [
    `Seconds, ${rows[0]?.timelines.length ?? 0} times. A Cluster of Cluster API with a StewardControlPlane and a MachineDeployment of one, whose machine is made by`,
    'the infrastructure provider of the tests: namespaces of this host, which boot in about a second. By hand: the same machine joins a',
    'control plane that is ready, by `kubeadm join`.',
    `\n${textTable(heads, lines)}`,
  ].join('\n');
}

function reached(timelines: readonly WorkerTimeline[], milestone: WorkerMilestone): readonly number[] {
  return timelines.map((timeline) => timeline[milestone]).filter((ms) => ms !== undefined);
}

function headlines(rows: readonly WorkerRow[]): readonly Headline[] {
  const of = (way: WorkerRow['way']): readonly WorkerTimeline[] => rows.find((row) => row.way === way)?.timelines ?? [];
  const between = (from: WorkerMilestone) =>
    of('Cluster').flatMap((timeline) => {
      const [begin, end] = [timeline[from], timeline['node Ready']];
      return begin === undefined || end === undefined ? [] : [end - begin];
    });
  const [ready, byHand] = [between('control plane Ready'), reached(of('by hand'), 'node Ready')];
  const times = Math.min(ready.length, byHand.length) === 0 ? '' : percentile(ready, 50) / percentile(byHand, 50);
  return [
    {
      figure: 'From `kubectl apply` of a Cluster to its first worker, s',
      value: medianAndWorst(reached(of('Cluster'), 'node Ready'), 1),
    },
    {
      figure: 'Of this, from the Ready control plane to the worker, s; floor: a machine that joins by hand',
      value: medianAndWorst(ready, 1),
      floor: medianAndWorst(byHand, 1),
      times: typeof times === 'string' ? times : times.toFixed(2),
    },
  ];
}

/** The benchmark of the first worker of a Cluster. */
export const workerPresentation: Presentation<WorkerRow> = {
  name: 'worker',
  title: 'From a Cluster to its first worker',
  report: workerReport,
  headlines,
};

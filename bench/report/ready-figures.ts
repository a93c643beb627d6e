import { measuredOn } from './measured-on.ts';
import type { ReadyRow, Summary } from '../ready/ready-rows.ts';
import type { BenchResult } from './result-file.ts';

/** The figures of README: one replica against both floors, and two replicas if they were measured. */
export function readyFigures(result: BenchResult<ReadyRow>): string {
  const one = result.rows.filter(({ replicas }) => replicas === 1);
  const [ours, ...floors] = one;
  if (ours === undefined) throw new Error('The result of the benchmark ready has no row for one replica.');
  const names = floors.map(({ contender }) => contender);
  const ratios = names.map((name) => `Steward / ${name.split(' ')[0] ?? name}`);
  const line = (until: string, value: (row: ReadyRow) => Summary | undefined): string =>
    cells([
      until,
      seconds(value(ours)),
      ...floors.map((floor) => seconds(value(floor))),
      ...floors.map((floor) => ratio(value(ours), value(floor))),
    ]);
  const header = ['until', 'Steward, p50 (max)', ...names, ...ratios];
  return [
    'Seconds from the create request of a TenantControlPlane with one replica, ClusterIP, CoreDNS and kube-proxy, against the same pods',
    `with ready-made Secrets applied by hand and against bare pods with the same images; in turn in the same run, ${ours.rounds} rounds:`,
    '',
    cells(header),
    cells(header.map(() => '---')),
    line('`/readyz` through the Service', ({ readyzMs }) => readyzMs),
    line('status Ready, in-tenant RBAC and add-ons included', ({ readyMs }) => readyMs),
    '',
    ...twoReplicas(result.rows),
    measuredOn(result),
    '`npm run bench -- footprint` reports memory, CPU and API requests of the manager for each tenant; `--help` lists the options.',
  ].join('\n');
}

function twoReplicas(rows: readonly ReadyRow[]): readonly string[] {
  const two = rows.find(({ replicas, readyMs }) => replicas === 2 && readyMs !== undefined);
  return two === undefined ? [] : [`With two replicas, Ready is reported after ${seconds(two.readyMs)} s.`];
}

function cells(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`;
}

function seconds(summary: Summary | undefined): string {
  return summary === undefined ? '' : `${(summary.p50 / 1000).toFixed(2)} (${(summary.max / 1000).toFixed(2)})`;
}

function ratio(ours: Summary | undefined, floor: Summary | undefined): string {
  return ours === undefined || floor === undefined ? '' : (ours.p50 / floor.p50).toFixed(2);
}

import { milestones } from './milestones.ts';
import type { Milestone } from './milestones.ts';
import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { ratio } from '../report/ratio.ts';
import { textTable } from '../report/text-table.ts';
import type { ReadyRow, ReadySummary } from './ready-rows.ts';

/** Both ends of the way to a control plane. */
const ends = [
  { end: 'first `/readyz` through the Service', value: ({ readyzMs }: ReadyRow) => readyzMs },
  { end: 'Ready, add-ons and objects inside the tenant included', value: ({ readyMs }: ReadyRow) => readyMs },
] as const;

/**
 * One or more replica counts as tables: both ends with what they are times each floor, then the way there.
 * @param rows the first of each replica count is ours, the others are floors.
 */
function readyReport(rows: readonly ReadyRow[]): string {
  return byReplicas(rows)
    .map(([ours, ...floors]) => {
      if (ours === undefined) return '';
      const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
      return [
        `${count(ours.replicas, 'replica')}, ${count(ours.rounds, 'round')}, seconds after the create request was sent`,
        endsTable(ours, floors),
        ...way([ours, ...floors]),
      ].join('\n\n');
    })
    .join('\n\n');
}

function byReplicas(rows: readonly ReadyRow[]): readonly (readonly ReadyRow[])[] {
  return [...Map.groupBy(rows, ({ replicas }) => replicas).values()];
}

function endsTable(ours: ReadyRow, floors: readonly ReadyRow[]): string {
  const lines = ends.flatMap(({ end, value }) =>
    [ours, ...floors].flatMap((row) => {
      const [own, summary] = [value(ours), value(row)];
      if (summary === undefined) return [];
      const times = row === ours || own === undefined ? undefined : ratio(own, summary);
      const texts = [times?.p50, times?.max].map((number) => number?.toFixed(2) ?? '');
      return [[end, row.contender, seconds(summary.min), seconds(summary.p50), seconds(summary.max), ...texts]];
    }),
  );
  return textTable(['end', 'way', 'min', 'p50', 'max', 'ours / it, p50', 'ours / it, max'], lines);
}

/** An old result has no samples. */
function way(rows: readonly ReadyRow[]): readonly string[] {
  if (rows.every(({ timelines = [] }) => timelines.length === 0)) return [];
  const lines = milestones.map((milestone) => [milestone, ...rows.map((row) => seconds(median(row, milestone)))]);
  const table = textTable(['after', ...rows.map(({ contender }) => contender)], lines);
  return ['The way there, median seconds', table];
}

function median({ timelines = [] }: ReadyRow, milestone: Milestone): number | undefined {
  const values = timelines.map((timeline) => timeline[milestone]).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : percentile(values, 50);
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? '' : (ms / 1000).toFixed(2);
}

function headlines(rows: readonly ReadyRow[]): readonly Headline[] {
  const text = ({ p50, max }: ReadySummary): string => `${seconds(p50)} (${seconds(max)})`;
  return byReplicas(rows).flatMap(([ours, floor]) => {
    if (ours?.readyMs === undefined) return [];
    const figure = `A control plane with ${ours.replicas === 1 ? 'one replica' : `${ours.replicas} replicas`} is Ready, s`;
    const compared =
      floor?.readyMs === undefined
        ? {}
        : { floor: text(floor.readyMs), times: ratio(ours.readyMs, floor.readyMs).p50.toFixed(2) };
    return [{ figure, value: text(ours.readyMs), ...compared }];
  });
}

/** The benchmark of readiness. */
export const readyPresentation: Presentation<ReadyRow> = {
  name: 'ready',
  title: 'How long until a control plane works',
  report: readyReport,
  headlines,
};

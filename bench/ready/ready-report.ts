import { milestones } from './milestones.ts';
import type { Milestone } from './milestones.ts';
import { ratio } from '../report/ratio.ts';
import type { ReadySeries } from './ready.ts';
import { summarize } from '../report/summary.ts';
import type { Summary } from '../report/summary.ts';
import { textTable } from '../report/text-table.ts';

/**
 * Series of one or more replica counts as tables: both ends with what they are times each floor, then the way there.
 * @param series the first of each replica count is ours, the others are floors.
 */
export function readyReport(series: readonly ReadySeries[]): string {
  const counts = [...new Set(series.map(({ replicas }) => replicas))];
  return counts
    .map((replicas) => {
      const [ours, ...floors] = series.filter((one) => one.replicas === replicas);
      if (ours === undefined) return '';
      const pairs = ours.timelines.length;
      return [
        `${replicas} replica${replicas === 1 ? '' : 's'}, ${pairs} pair${pairs === 1 ? '' : 's'}, seconds after the create request was sent`,
        endsTable(ours, floors),
        'The way there, median seconds',
        wayTable([ours, ...floors]),
      ].join('\n\n');
    })
    .join('\n\n');
}

function endsTable(ours: ReadySeries, floors: readonly ReadySeries[]): string {
  const ends: readonly (readonly [string, (series: ReadySeries) => Milestone])[] = [
    ['first /readyz through the Service', () => 'Service answers /readyz'],
    ['Ready', ({ ready }) => ready],
  ];
  const rows = ends.flatMap(([end, milestone]) => {
    const own = summaryOf(ours, milestone(ours));
    return [ours, ...floors].map((series) => {
      const summary = summaryOf(series, milestone(series));
      const times = series === ours || own === undefined || summary === undefined ? undefined : ratio(own, summary);
      return [
        end,
        series.contender,
        seconds(summary?.min),
        seconds(summary?.p50),
        seconds(summary?.max),
        times === undefined ? '' : times.p50.toFixed(2),
        times === undefined ? '' : times.max.toFixed(2),
      ];
    });
  });
  return textTable(['end', 'way', 'min', 'p50', 'max', 'ours / it, p50', 'ours / it, max'], rows);
}

function wayTable(all: readonly ReadySeries[]): string {
  const rows = milestones.map((milestone) => [
    milestone,
    ...all.map((series) => seconds(summaryOf(series, milestone)?.p50)),
  ]);
  return textTable(['after', ...all.map(({ contender }) => contender)], rows);
}

function summaryOf({ timelines }: ReadySeries, milestone: Milestone): Summary | undefined {
  const values = timelines.map((timeline) => timeline[milestone]).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : summarize(values);
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? '' : (ms / 1000).toFixed(2);
}

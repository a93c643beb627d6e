import type { Milestone, Timeline } from './milestones.ts';
import type { ReadySeries } from './ready.ts';
import { summarize } from '../report/summary.ts';

/** Milliseconds, as a page shows them. */
export interface ReadySummary {
  readonly min?: number;
  readonly p50: number;
  readonly max: number;
}

/** One way to a control plane, as `bench/results/ready.json` has it. */
export interface ReadyRow {
  readonly contender: string;
  readonly replicas: number;
  readonly rounds: number;
  /** Until the first `/readyz` through the Service. */
  readonly readyzMs?: ReadySummary;
  /** Until Steward, or the Deployment of a floor, says Ready. */
  readonly readyMs?: ReadySummary;
  /** The raw samples, one for each round; an old result has none. */
  readonly timelines?: readonly Timeline[];
  /** How busy the processors were before each round, 0 to 1. */
  readonly busyBefore?: readonly number[];
}

/** What is kept of a measurement. */
export function readyRows(series: readonly ReadySeries[]): readonly ReadyRow[] {
  return series.map(({ contender, replicas, timelines, busyBefore, ready }) => ({
    contender,
    replicas,
    rounds: timelines.length,
    ...summary('readyzMs', timelines, 'Service answers /readyz'),
    ...summary('readyMs', timelines, ready),
    timelines,
    busyBefore,
  }));
}

function summary<Key extends 'readyzMs' | 'readyMs'>(
  key: Key,
  timelines: readonly Timeline[],
  milestone: Milestone,
): Partial<Record<Key, ReadySummary>> {
  const values = timelines.map((timeline) => timeline[milestone]).filter((value) => value !== undefined);
  if (values.length === 0) return {};
  const { min, p50, max } = summarize(values);
  const rounded: Partial<Record<Key, ReadySummary>> = {};
  rounded[key] = { min: Math.round(min), p50: Math.round(p50), max: Math.round(max) };
  return rounded;
}

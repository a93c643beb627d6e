import { slowness } from '../../cluster/slowness.ts';
import type { LoadReport } from './tenant-load.ts';

/** How long a user may wait unless a scenario says why it is longer; on a machine that is n times slower n times as long. */
const longestPauseMs = (): number => 5000 * slowness();

/** A call may take so many times longer than one to a server that nobody touches. */
const timesTheFloor = 3;

/** Of the calls that were asked for in a time, this share has to be made at least, when a server that nobody touches answers in time. */
const usualShare = 0.2;

/** However slow that server is, no call may take longer than this, in milliseconds, and so many calls are needed. */
const mostMs = 20_000;
const fewestShare = 0.05;

/** What a control plane has to keep to, as far as its machine lets any server keep to it. */
export interface Bounds {
  /** How long a call may take, in milliseconds. */
  readonly longestMs: number;
  /** Which share of the calls that were asked for has to be made. */
  readonly leastShare: number;
}

/** Bounds for a load beside which no untouched server answered. */
const bareBounds = (): Bounds => ({ longestMs: longestPauseMs(), leastShare: usualShare / slowness() });

/** Something that was counted while a control plane was used. */
export interface Counted {
  readonly what: string;
  readonly count: number;
  readonly perSecond: number;
  readonly lastedMs: number;
}

/**
 * The bounds of one load. They are those of a good machine unless a server that nobody touched was slow in the same time: then they are
 * measured by that one. `moreMs` is what the scenario itself lets a call take longer.
 */
export function boundsOf({ floor, lastedMs }: Pick<LoadReport, 'floor' | 'lastedMs'>, moreMs = 0): Bounds {
  if (floor.calls === 0) return { ...bareBounds(), longestMs: longestPauseMs() + moreMs };
  const made = (floor.calls * 1000) / Math.max(lastedMs, 1) / floor.perSecond;
  return {
    longestMs: Math.max(longestPauseMs(), Math.min(timesTheFloor * floor.slowestMs, mostMs)) + moreMs,
    leastShare: Math.max(usualShare * Math.min(made, 1), fewestShare),
  };
}

/** Names what was done too rarely to prove anything; empty when all was made often enough. */
export function tooFew(counted: readonly Counted[], { leastShare } = bareBounds()): readonly string[] {
  return counted.flatMap(({ what, count, perSecond, lastedMs }) => {
    const least = Math.ceil((perSecond * lastedMs * leastShare) / 1000);
    const asked = Math.round((perSecond * lastedMs) / 1000);
    return count >= Math.max(least, 1)
      ? []
      : [`${count} ${what} of ${asked} that were asked for, at least ${least} are needed`];
  });
}

/** Says which waits were longer than allowed, by their names; empty when none was. */
export function tooLong(waits: Readonly<Record<string, number>>, { longestMs }: Bounds): readonly string[] {
  return Object.entries(waits)
    .filter(([, ms]) => ms > longestMs)
    .map(
      ([what, ms]) => `${what}: ${(ms / 1000).toFixed(1)} s, at most ${(longestMs / 1000).toFixed(1)} s are allowed`,
    );
}

/** Why a load that did not fail shows less than it should: too few calls, or calls that hung; empty when it shows enough. */
export function loadShortfalls(report: LoadReport, moreMs = 0): readonly string[] {
  const { lastedMs, asked } = report;
  const bounds = boundsOf(report, moreMs);
  return [
    ...tooFew(
      [
        { what: 'writes', count: report.writes + report.denied, perSecond: asked.writesPerSecond, lastedMs },
        { what: 'reads', count: report.reads, perSecond: asked.readsPerSecond, lastedMs },
      ],
      bounds,
    ),
    ...tooLong({ 'longest time without a write': report.longestPauseMs, 'slowest call': report.slowestCallMs }, bounds),
  ];
}

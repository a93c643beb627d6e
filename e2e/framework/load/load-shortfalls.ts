import { slowness } from '../slowness.ts';
import type { LoadReport } from './tenant-load.ts';

/** How long a user may wait unless a scenario says why it is longer; on a machine that is n times slower n times as long. */
export const longestPauseMs = 5000 * slowness();

/** Of the calls that were asked for in a time, this share has to be made at least, on a busy machine too. */
const leastShare = 0.2 / slowness();

/** Something that was counted while a control plane was used. */
export interface Counted {
  readonly what: string;
  readonly count: number;
  readonly perSecond: number;
  readonly lastedMs: number;
}

/** Says of what was made too seldom to prove anything; empty when all was made often enough. */
export function tooFew(counted: readonly Counted[]): readonly string[] {
  return counted.flatMap(({ what, count, perSecond, lastedMs }) => {
    const least = Math.ceil((perSecond * lastedMs * leastShare) / 1000);
    const asked = Math.round((perSecond * lastedMs) / 1000);
    return count >= Math.max(least, 1)
      ? []
      : [`${count} ${what} of ${asked} that were asked for, at least ${least} are needed`];
  });
}

/** Says which waits were longer than allowed, by their names; empty when none was. */
export function tooLong(waits: Readonly<Record<string, number>>, allowedMs = longestPauseMs): readonly string[] {
  return Object.entries(waits)
    .filter(([, ms]) => ms > allowedMs)
    .map(
      ([what, ms]) => `${what}: ${(ms / 1000).toFixed(1)} s, at most ${(allowedMs / 1000).toFixed(1)} s are allowed`,
    );
}

/** Why a load that did not fail shows less than it should: too few calls, or calls that hung; empty when it shows enough. */
export function loadShortfalls(report: LoadReport, allowedMs = longestPauseMs): readonly string[] {
  const { lastedMs, asked } = report;
  return [
    ...tooFew([
      { what: 'writes', count: report.writes + report.denied, perSecond: asked.writesPerSecond, lastedMs },
      { what: 'reads', count: report.reads, perSecond: asked.readsPerSecond, lastedMs },
    ]),
    ...tooLong(
      { 'longest time without a write': report.longestPauseMs, 'slowest call': report.slowestCallMs },
      allowedMs,
    ),
  ];
}

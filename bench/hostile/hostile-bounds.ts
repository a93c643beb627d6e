import type { Hostility } from './hostile-endpoints.ts';
import { percentile } from '../report/percentile.ts';

/** What tenants whose endpoints do one thing cost. */
export interface HostileRow {
  readonly does: Hostility;
  readonly hostile: number;
  readonly innocent: number;
  readonly seconds: number;
  /** Of one core, with the management cluster in memory. */
  readonly cpuPercent: number;
  readonly requestsPerSecond: number;
  /** The number of requests for each verb and kind during the measurement. */
  readonly requests: Readonly<Record<string, number>>;
  /** How long innocent tenants took to become Ready just before and just after, without hostile ones; milliseconds. */
  readonly aloneMs: readonly number[];
  /** And beside hostile ones. */
  readonly besideMs: readonly number[];
  /** Average load of the machine in the last minute, at the end. */
  readonly load: number;
}

/** What a manager may do while its tenants are hostile. */
export const hostileBounds = { cpuPercent: 5, requestsPerSecond: 2, ratio: 1.5 } as const;

/** Beside against alone: the median of all, and the 99th percentile of the usual round. */
export function hostileRatios(row: HostileRow): { readonly median: number; readonly p99: number } {
  const { aloneMs, besideMs, innocent } = row;
  const median = percentile(besideMs, 50) / percentile(aloneMs, 50);
  return { median, p99: usualPercentile(besideMs, innocent, 99) / usualPercentile(aloneMs, innocent, 99) };
}

/**
 * The median over the rounds of a percentile in each: rounds that are alike differ by a third of a second, so that the 99th percentile
 * of all of them is that of the slowest round.
 */
export function usualPercentile(times: readonly number[], ofRound: number, p: number): number {
  const all = Array.from({ length: Math.ceil(times.length / ofRound) }, (_, round) =>
    percentile(times.slice(round * ofRound, (round + 1) * ofRound), p),
  );
  return percentile(all, 50);
}

/** Whether a row breaks a bound. */
export function breaksBound(row: HostileRow): boolean {
  const { median, p99 } = hostileRatios(row);
  const { cpuPercent, requestsPerSecond, ratio } = hostileBounds;
  return row.cpuPercent > cpuPercent || row.requestsPerSecond > requestsPerSecond || Math.max(median, p99) > ratio;
}

import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { hostilities } from './hostile-endpoints.ts';
import type { Hostility } from './hostile-endpoints.ts';
import { HostileFleet } from './hostile-fleet.ts';
import { percentile } from '../report/percentile.ts';

/** The options of the hostile benchmark. */
export interface HostileOptions {
  readonly does: readonly Hostility[];
  readonly hostile: number;
  readonly innocent: number;
  /** Seconds before the look, and of it. */
  readonly idleSeconds: number;
}

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

/** How often innocent tenants are made, one round after the other. */
const rounds = 5;

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

/** Measures what each kind of hostile endpoint costs, one after the other; `onRow` gets each row as soon as it is known. */
export async function measureHostile(
  options: HostileOptions,
  onRow: (row: HostileRow) => void,
): Promise<readonly HostileRow[]> {
  // The first ones pay for what is compiled.
  let before = await alone(Math.min(3, options.innocent)).then(() => alone(options.innocent));
  const rows: HostileRow[] = [];
  for (const does of hostilities.filter((one) => options.does.includes(one))) {
    const beside = await measureOne(does, options);
    const after = await alone(options.innocent);
    const row = { ...beside, aloneMs: [...before, ...after], load: loadavg()[0] ?? 0 };
    before = after;
    rows.push(row);
    onRow(row);
  }
  return rows;
}

async function alone(innocent: number): Promise<readonly number[]> {
  const fleet = new HostileFleet('silent');
  await fleet.start();
  const times = await fleet.readyTimes(innocent, rounds);
  await fleet.stop();
  return times;
}

async function measureOne(
  does: Hostility,
  { hostile, innocent, idleSeconds }: HostileOptions,
): Promise<Omit<HostileRow, 'aloneMs' | 'load'>> {
  const fleet = new HostileFleet(does);
  await fleet.start();
  await fleet.addHostile(hostile);
  await sleep(idleSeconds * 1000);
  fleet.requests.clear();
  const [cpu, since] = [process.cpuUsage(), performance.now()];
  await sleep(idleSeconds * 1000);
  const seconds = (performance.now() - since) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const requests = Object.fromEntries([...fleet.requests].toSorted(([, a], [, b]) => b - a));
  const besideMs = await fleet.readyTimes(innocent, rounds);
  await fleet.stop();
  const count = Object.values(requests).reduce((sum, one) => sum + one, 0);
  return {
    ...{ does, hostile, innocent, seconds, requests, besideMs },
    cpuPercent: (user + system) / 10_000 / seconds,
    requestsPerSecond: count / seconds,
  };
}

import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { hostilities } from './hostile-endpoints.ts';
import type { Hostility } from './hostile-endpoints.ts';
import { HostileFleet } from './hostile-fleet.ts';
import type { HostileRow } from './hostile-bounds.ts';

/** The options of the hostile benchmark. */
export interface HostileOptions {
  readonly does: readonly Hostility[];
  readonly hostile: number;
  readonly innocent: number;
  /** Seconds before the look, and of it. */
  readonly idleSeconds: number;
}

/** How often innocent tenants are made, one round after the other. */
const rounds = 5;

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

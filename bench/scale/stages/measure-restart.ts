import { setTimeout as pause } from 'node:timers/promises';

import type { Key } from '../../../api/meta.ts';
import type { ScaleFleet } from '../fleet/scale-fleet.ts';
import { keyOf } from '../fleet/scale-fleet.ts';
import { requestsBetween } from '../scale-rows.ts';
import type { RestartRow } from '../scale-rows.ts';
import { fleetWrites } from './fleet-writes.ts';

/** Persons who change something while the manager starts. */
const persons = 5;
const lookEveryMs = 1_000;

/** Starts the manager again over all tenants: once while nobody changes anything, once while persons do. */
export async function measureRestart(fleet: ScaleFleet): Promise<RestartRow> {
  const tenants = fleet.tenants.list().length;
  await fleet.quiet();
  await fleet.manager.stop();
  const writesBefore = await fleetWrites(fleet.admin);
  const began = performance.now();
  await fleet.manager.start();
  const lookedAtMs = Math.round((await untilLookedAt(fleet, tenants)) - began);
  await fleet.quiet();
  const { lagP99Ms, lagMaxMs } = await fleet.manager.look();
  const writes = requestsBetween(writesBefore, await fleetWrites(fleet.admin));
  const answeredMs = await answered(fleet);
  return {
    ...{ stage: 'restart', tenants, lookedAtMs, answeredMs, lagP99Ms, lagMaxMs },
    writes: Object.fromEntries(Object.entries(writes).filter(([, count]) => count > 0)),
  };
}

/** When as many reconciles as tenants have ended, and none waits. */
async function untilLookedAt(fleet: ScaleFleet, tenants: number): Promise<number> {
  const deadline = performance.now() + 600_000;
  for (;;) {
    const { at, reconciles, busy } = await fleet.manager.look();
    if (reconciles >= tenants && busy === 0) return at;
    if (at > deadline) throw new Error(`After ten minutes, ${reconciles} reconciles of ${tenants} tenants have ended.`);
    await pause(lookEveryMs);
  }
}

/** How long persons wait, each with a tenant of their own, who change something as soon as the webhooks of the new manager serve. */
async function answered(fleet: ScaleFleet): Promise<readonly number[]> {
  const all = fleet.tenants.list().map(keyOf);
  const chosen = all.filter((_, n) => n % Math.max(1, Math.floor(all.length / persons)) === 0).slice(0, persons);
  await fleet.manager.stop();
  await fleet.manager.start();
  const times = await Promise.all(chosen.map((key, n) => changedBy(fleet, key, 500 + n)));
  await fleet.quiet();
  return times;
}

async function changedBy(fleet: ScaleFleet, key: Key, inflight: number): Promise<number> {
  const began = performance.now();
  const rolled = fleet.rolled([key], inflight);
  await fleet.roll([key], inflight);
  await rolled;
  return Math.round(performance.now() - began);
}

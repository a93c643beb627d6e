import type { ScaleFleet } from '../fleet/scale-fleet.ts';
import { keyOf } from '../fleet/scale-fleet.ts';
import type { OneMoreRow } from '../scale-rows.ts';

const rounds = 3;

/** Creates one tenant alone, and one as soon as the API server has changes of all others that roll their pods. */
export async function measureOneMore(fleet: ScaleFleet): Promise<OneMoreRow> {
  const keys = fleet.tenants.list().map(keyOf);
  const aloneMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await fleet.quiet();
    aloneMs.push(...(await fleet.create(1)));
  }
  const [amongMs, rolledMs]: [number[], number[]] = [[], []];
  await fleet.quiet();
  await fleet.manager.begin();
  for (let round = 0; round < rounds; round += 1) {
    const inflight = 600 + round;
    const began = performance.now();
    const rolled = fleet.rolled(keys, inflight).then(() => Math.round(performance.now() - began));
    await fleet.roll(keys, inflight);
    amongMs.push(...(await fleet.create(1)));
    rolledMs.push(await rolled);
  }
  const { lagP99Ms, lagMaxMs } = await fleet.manager.look();
  await fleet.quiet();
  return { stage: 'onemore', tenants: keys.length, aloneMs, amongMs, rolledMs, lagP99Ms, lagMaxMs };
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { ChurningFleet } from '../../testing/worlds/churning-fleet.ts';
import type { MemoryRow } from './memory-report.ts';

const atOnce = 50;

/**
 * Creates and deletes tenants; measures the heap at each of these numbers, ascending. `onRow` gets each row as soon as it
 * is known.
 */
export async function measureMemory(
  looks: readonly number[],
  onRow: (row: MemoryRow) => void,
): Promise<readonly MemoryRow[]> {
  const fleet = new ChurningFleet();
  await fleet.start();
  const rows: MemoryRow[] = [];
  let made = 0;
  for (const goal of looks) {
    while (made < goal) {
      const count = Math.min(atOnce, goal - made);
      await fleet.pass(count);
      made += count;
    }
    const row = { tenants: made, heapBytes: await collectedHeap(), remembered: fleet.remembered };
    rows.push(row);
    onRow(row);
  }
  await fleet.stop();
  return rows;
}

/** What was just freed may hold other things that only the next collection can free. */
async function collectedHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  for (let pass = 0; pass < 5; pass += 1) await collect({ execution: 'async', type: 'major' });
  return process.memoryUsage().heapUsed;
}

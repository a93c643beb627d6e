import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { ChurningFleet } from '../testing/worlds/churning-fleet.ts';
import { textTable } from './report/text-table.ts';

/** What the heap may hold in the end against the first look. */
const mostGrowth = 1.05;
const atOnce = 50;

/** What the manager keeps when so many tenants have come and gone. */
export interface MemoryRow {
  readonly tenants: number;
  readonly heapBytes: number;
  /** Objects in all slots of the manager's memory. */
  readonly remembered: number;
}

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
    const row = { tenants: made, heapBytes: await collectedHeap(), remembered: sum(fleet.memory.sizes().values()) };
    rows.push(row);
    onRow(row);
  }
  await fleet.stop();
  return rows;
}

/** The heap in the end against the first look. */
export const heapGrowth = (rows: readonly MemoryRow[]): number =>
  (rows.at(-1)?.heapBytes ?? 0) / (rows[0]?.heapBytes ?? 0);

/** Whether the heap has grown by more than it may. */
export const hasGrown = (rows: readonly MemoryRow[]): boolean => heapGrowth(rows) > mostGrowth;

/** The heap at each look, as a table. */
export function memoryReport(rows: readonly MemoryRow[]): string {
  const table = textTable(
    ['tenants', 'heap in MiB', 'against the first', 'objects remembered'],
    rows.map((row) => [
      String(row.tenants),
      (row.heapBytes / 2 ** 20).toFixed(2),
      heapGrowth([...rows.slice(0, 1), row]).toFixed(3),
      String(row.remembered),
    ]),
  );
  return `The heap of the manager after collection, when tenants have been made and deleted; at most ${mostGrowth} is allowed\n\n${table}`;
}

/** What was just freed may hold other things that only the next collection can free. */
async function collectedHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  for (let pass = 0; pass < 5; pass += 1) await collect({ execution: 'async', type: 'major' });
  return process.memoryUsage().heapUsed;
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0);

import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';

/** What the heap may hold in the end against the first look. */
const mostGrowth = 1.05;

/** What the manager keeps when so many tenants have come and gone. */
export interface MemoryRow {
  readonly tenants: number;
  readonly heapBytes: number;
  /** Objects in all slots of the manager's memory. */
  readonly remembered: number;
}

/** The heap in the end against the first look. */
const heapGrowth = (rows: readonly MemoryRow[]): number => (rows.at(-1)?.heapBytes ?? 0) / (rows[0]?.heapBytes ?? 0);

/** Whether the heap has grown by more than it may. */
export const hasGrown = (rows: readonly MemoryRow[]): boolean => heapGrowth(rows) > mostGrowth;

/** The heap at each look, as a table. */
function memoryReport(rows: readonly MemoryRow[]): string {
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

/** The benchmark of what a manager remembers. */
export const memoryPresentation: Presentation<MemoryRow> = {
  name: 'memory',
  title: 'What the manager keeps of deleted tenants',
  report: memoryReport,
};

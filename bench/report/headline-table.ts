import type { Headline } from './presentation.ts';
import { textTable } from './text-table.ts';

/** Lines of several benchmarks as one table. */
export function headlineTable(lines: readonly Headline[]): string {
  const rows = lines.map(({ figure, value, floor = '', times = '' }) => [figure, value, floor, times]);
  return textTable(['median (worst case)', 'Steward', 'floor', 'Steward / floor'], rows);
}

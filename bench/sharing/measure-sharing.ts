import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { measureScale } from '../scale/measure-scale.ts';
import { rowsOf } from '../scale/scale-rows.ts';
import type { ThroughputRow } from '../scale/scale-rows.ts';

/** How much is measured. */
export interface SharingOptions {
  /** Created at once. */
  readonly tenants: number;
  /** Those that share the tenants, beside one alone. */
  readonly managers: number;
}

/** Tenants created at once, for one manager and then for several that share them, each time in a new management cluster. */
export async function measureSharing(
  { tenants, managers }: SharingOptions,
  progress: Progress,
): Promise<readonly ThroughputRow[]> {
  const found: ThroughputRow[] = [];
  for (const count of [1, managers]) {
    const rows = await measureScale(
      { stages: ['throughput'], tenants: [tenants], idleSeconds: 1, managers: count },
      progress,
    );
    found.push(...rowsOf(rows, 'throughput'));
  }
  return found;
}

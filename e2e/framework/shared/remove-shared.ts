import { leftovers, removeHarness } from '../../cluster/remove-harness.ts';
import { listHarnesses } from '../../cluster/state.ts';
import { sharedAmong } from './shared-names.ts';
import type { SharedKind } from './shared-names.ts';

/** Removes the clusters that scenarios shared, of one kind or of all, and says what of them is left on the host. */
export async function removeShared(owner: number, kind?: SharedKind): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of sharedAmong(await listHarnesses(), owner, kind)) {
    await removeHarness(name);
    left.push(...(await leftovers(name)));
  }
  return left;
}

import { StoreError } from '../store-error.ts';
import { CompactedError } from '../tenancy-data.ts';
import type { StoredChange } from '../tenancy-data.ts';
import type { MigrationRun } from './migration-run.ts';

/** Failures after which a target that cannot be emptied is left as it is: it may be the reason for the rollback. */
const mostFailures = 5;

/**
 * Lets the source accept writes again, ends read-only mode, and empties the target. Returns the reason, with what is left to do by hand.
 * Throws what the datastores and the handshake throw.
 */
export async function rollBack(run: MigrationRun, reason: string, failuresInARow: number): Promise<string> {
  await (await run.source()).unfence();
  await run.options.freeze.release();
  try {
    await emptyTarget(run);
    return reason;
  } catch (error) {
    const isOfStore = error instanceof StoreError || error instanceof CompactedError;
    if (!isOfStore || failuresInARow < mostFailures) throw error;
    return `${reason}; the copy in the target could not be deleted: ${error.message}`;
  }
}

async function emptyTarget(run: MigrationRun): Promise<void> {
  const target = await run.writable();
  for await (const page of target.pages(await target.revision())) {
    await target.write(page.map(({ key }): StoredChange => ({ is: 'deleted', key })));
  }
  await target.endWrites();
}

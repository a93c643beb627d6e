import type { StoredChange } from '../tenancy-data.ts';
import { differences } from './differences.ts';
import type { MigrationRun } from './migration-run.ts';

/** Raises the target's revisions above the source's, before anything is written there. */
export async function prepare(run: MigrationRun): Promise<void> {
  const { source } = await run.stores();
  run.checkpoint();
  await run.lead.renew(await source.revision(), run.checkpoint);
}

/**
 * Makes the target equal to the source as of one revision, and returns it. Only differences are written, so that an interrupted copy
 * catches up quickly. Throws what the datastores throw, and at a checkpoint.
 */
export async function copyEverything(run: MigrationRun): Promise<bigint> {
  const { source, target } = await run.stores();
  const revision = await source.revision();
  run.meter.begin(await source.count());
  await run.lead.keep(revision, run.checkpoint);
  await run.writable();
  const there = target.pages(await target.revision());
  for await (const { changes, pairs } of differences(source.pages(revision), there)) {
    run.checkpoint();
    await target.write(changes);
    run.meter.passed(pairs.filter((pair) => pair.source !== undefined).length);
    run.meter.wrote(changes.length, bytesOf(changes));
  }
  return revision;
}

/** Bytes of the values that changes put. */
export function bytesOf(changes: readonly StoredChange[]): number {
  return changes.reduce((sum, change) => sum + (change.is === 'put' ? change.entry.value.length : 0), 0);
}

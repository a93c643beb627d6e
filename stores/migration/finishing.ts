import type { TenancyData } from '../tenancy-data.ts';
import { FencedTooLongError, UnequalError } from './failure-plan.ts';
import { Follower } from './following.ts';
import type { MigrationSummary } from './migration-journal.ts';
import type { MigrationRun } from './migration-run.ts';
import { changesSince, verifyChanges, verifyEverything } from './verification.ts';

/** Everything is compared again while the source is fenced if the last comparison took no longer than this. In milliseconds. */
const shortComparisonMs = 500;

const longestFenceMs = 30_000;

/**
 * The last step: fences the source, copies what is left, compares, and opens the target to its tenant. Throws `UnequalError`,
 * `FencedTooLongError`, `CanceledError` and what the stores throw; the source is fenced then.
 */
export async function finish(run: MigrationRun, from: bigint, isResumed: boolean): Promise<MigrationSummary> {
  const { source, target } = await run.stores();
  const begun = run.now();
  const limit = run.options.longestFenceMs ?? longestFenceMs;
  const checkpoint = (): void => {
    run.throwIfCanceled();
    if (run.now() - begun > limit) throw new FencedTooLongError(`the source was read-only for more than ${limit} ms`);
  };
  await source.fence();
  const cut = await source.revision();
  checkpoint();
  await run.lead.renew(cut, checkpoint);
  await new Follower(run, from).upTo(cut, checkpoint);
  // What this engine has sent and nobody has answered must not arrive when the tenant writes there.
  await target.endWrites();
  const content = await compared(run, { source, target }, { revision: cut, checkpoint });
  await requireFenced(source, cut, checkpoint);
  checkpoint();
  await target.unfence();
  const targetRevision = await target.revision();
  if (targetRevision <= cut) {
    throw new UnequalError(`the target is at revision ${targetRevision}, not above revision ${cut} of the source`);
  }
  // From here on the source's API servers are replaced: they must be able to stop cleanly.
  await source.openUncopied?.();
  return {
    ...content,
    ...(isResumed ? {} : { fencedMs: Math.round(run.now() - begun) }),
    sourceRevision: cut.toString(),
    targetRevision: targetRevision.toString(),
  };
}

/**
 * Fences the source again, because a request of an earlier attempt to open it may have taken effect only now. Throws `UnequalError` if
 * anything was written there since `cut`. Keys with a time to live end behind a fence, too, so deletions prove nothing.
 */
async function requireFenced(source: TenancyData, cut: bigint, checkpoint: () => void): Promise<void> {
  await source.fence();
  const since = await changesSince(source, cut, checkpoint);
  const written = [...since].find(([, state]) => state !== 'deleted')?.[0];
  if (written !== undefined) throw new UnequalError(`the source was written to although it was fenced (${written})`);
}

async function compared(
  run: MigrationRun,
  stores: { readonly source: TenancyData; readonly target: TenancyData },
  at: { readonly revision: bigint; readonly checkpoint: () => void },
): Promise<Pick<MigrationSummary, 'keys' | 'bytes' | 'fingerprint' | 'verified'>> {
  const { equality } = run;
  if (equality === undefined || equality.tookMs <= shortComparisonMs) {
    const { keys, bytes, fingerprint } = await verifyEverything(stores, at.revision, at.checkpoint);
    return { keys, bytes, fingerprint, verified: 'everything' };
  }
  const { content } = equality;
  await verifyChanges(stores, { ...equality, expiring: content.expiring }, at.checkpoint);
  const { bytes, fingerprint } = content;
  return { keys: await stores.target.count(), bytes, fingerprint, verified: 'changes' };
}

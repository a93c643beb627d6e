import type { TenancyData } from '../tenancy-data.ts';
import { leastLead } from './revision-lead.ts';

/** What a target that answers no more may have grown since its revision was known: minutes of a busy store. */
const blindLead = 100_000n;

/**
 * Makes the source's later revisions greater than all that clients may have seen of a target which has been served. To be called
 * when a migration is taken back after the switch, before the source is given its writes back: a client that knows a greater
 * revision would take the source's writes for old ones, and its watches would wait for ever. The target is fenced for that and
 * stays so, so that its revision is the last. Where the target answers no more, `target` is the revision that the migration's
 * summary gives it.
 *
 * May be repeated, and does nothing while the source is ahead. `checkpoint` is called now and then and may throw. Throws
 * `StoreError`, Unsupported where the source is an etcd that is too far behind.
 */
export async function raiseAbove(
  source: Pick<TenancyData, 'revision' | 'raise'>,
  target: Pick<TenancyData, 'fence' | 'revision'> | bigint,
  checkpoint: () => void = () => undefined,
): Promise<void> {
  const isBlind = typeof target === 'bigint';
  if (!isBlind) await target.fence();
  const seen = isBlind ? target : await target.revision();
  const lead = isBlind ? blindLead : leastLead;
  // In etcd the revision is that of all tenants: half of the lead is left to them, so that not every call raises a little.
  if ((await source.revision()) >= seen + lead / 2n) return;
  await source.raise(seen + lead, checkpoint);
}

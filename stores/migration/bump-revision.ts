import type { TenancyData } from '../tenancy-data.ts';
import { leastLead } from './revision-lead.ts';

/** By how much a target that no longer answers may have grown since its revision was known: minutes of a busy datastore. */
const unreachableLead = 100_000n;

/**
 * Raises the source's revision above all revisions that clients may have seen in a target that has served them. Call it when a migration
 * is reverted after the switch, before the source accepts writes again: a client that knows a greater revision would ignore the source's
 * writes as old, and its watches would wait forever. The target is fenced and stays so, which makes its revision final. If the target
 * no longer answers, `target` is its revision from the migration's summary.
 *
 * May be repeated, and does nothing while the source is ahead. `checkpoint` is called now and then and may throw. Throws
 * `StoreError`, Unsupported where the source is an etcd that is too far behind.
 */
export async function bumpRevision(
  source: Pick<TenancyData, 'revision' | 'raise'>,
  target: Pick<TenancyData, 'fence' | 'revision'> | bigint,
  checkpoint: () => void = () => undefined,
): Promise<void> {
  const isUnreachable = typeof target === 'bigint';
  if (!isUnreachable) await target.fence();
  const seen = isUnreachable ? target : await target.revision();
  const lead = isUnreachable ? unreachableLead : leastLead;
  // In etcd all tenants have one revision. Half of the lead is left for them, so that not every call has to raise it again.
  if ((await source.revision()) >= seen + lead / 2n) return;
  await source.raise(seen + lead, checkpoint);
}

import type { CompactionRequest, CompactionStep } from '../../compaction.ts';
import { StoreError } from '../../store-error.ts';
import { publishCompaction } from '../compaction.ts';
import type { EtcdCalls } from '../client.ts';
import { planCompaction } from './plan.ts';

type Calls = Parameters<typeof publishCompaction>[0] & Pick<EtcdCalls, 'members' | 'maintenance'>;

/**
 * Looks at the members, compacts history if the quota would otherwise be used up, and publishes that: see `planCompaction`. It may be
 * repeated and interrupted at any point, also by several processes at once: none compacts what another would keep. Throws `StoreError`.
 */
export async function compactEarly(
  client: Calls,
  { limits, memory, clock }: CompactionRequest,
): Promise<CompactionStep> {
  const answers = await client.members();
  const { compact, ...plan } = planCompaction({ answers, limits, memory, now: clock.monotonic() });
  if (compact === undefined) return plan;
  await client.maintenance.compact(compact.revision);
  const { historyMs, member } = compact;
  const { endpoint, inUseBytes } = member;
  const step = { ...plan, compaction: { endpoint, inUseBytes, historyMs, time: clock.now() } };
  try {
    await publishCompaction(client);
    return step;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // The history is gone: that is remembered, and every probe publishes it again.
    return { ...step, without: { reason: 'Failed', message: error.message } };
  }
}

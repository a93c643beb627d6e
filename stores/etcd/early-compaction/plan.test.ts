import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CompactionMemory } from '../../compaction.ts';
import type { LivingMember, MemberAnswer } from '../client.ts';
import { planCompaction } from './plan.ts';
import type { CompactionPlan } from './plan.ts';

const mebibyte = 2 ** 20;
const quotaBytes = 1000 * mebibyte;
const limits = { usedPercent: 40, historyMs: 30_000 };

/** A member with so many MiB in use of a quota of 1000. */
function member(inUse: number, over: Partial<LivingMember> = {}): LivingMember {
  return {
    ...{ endpoint: 'etcd-0:2379', memberId: '1', leaderId: '1', isLearner: false },
    ...{ version: '3.6.16', storageVersion: '3.6.0', revision: 1000n },
    ...{ sizeBytes: inUse * mebibyte, inUseBytes: inUse * mebibyte, quotaBytes },
    ...over,
  };
}

/** Revision 100 was the newest one 100 s ago, 200 90 s ago, and so on up to 1000 just now. */
const seen = Array.from({ length: 10 }, (_, index) => ({
  revision: BigInt(100 * (index + 1)),
  at: 10_000 * index,
  grown: 0,
}));
const now = 90_000;

function plan(answers: readonly MemberAnswer[], memory: CompactionMemory = { seen }, at = now): CompactionPlan {
  return planCompaction({ answers, limits, memory, now: at });
}

const failed: MemberAnswer = {
  endpoint: 'etcd-1:2379',
  failure: { endpoint: 'etcd-1:2379', error: new Error('14 UNAVAILABLE: connect ECONNREFUSED') },
};

describe('planCompaction', () => {
  test('compacts nothing below the limit, and looks again every minute', () => {
    const { compact, without, afterMs } = plan([member(1000, { quotaBytes: 10 * quotaBytes })]);
    expect({ compact, without, afterMs }).toEqual({ afterMs: 60_000 });
    expect(plan([member(399)]).compact).toBeUndefined();
  });

  test.each([
    ['30 s of history at the limit', 400, { revision: 700n, historyMs: 30_000 }],
    ['less of it the fuller the file is', 650, { revision: 800n, historyMs: 20_000 }],
    ['3 s of it when the quota is nearly used up', 900, { revision: 900n, historyMs: 10_000 }],
  ])('keeps %s', (_, inUse, expected) => {
    expect(plan([member(inUse)]).compact).toMatchObject(expected);
  });

  test('compacts nothing before it has seen a revision that is old enough', () => {
    const young = { seen: seen.slice(-3) };
    expect(plan([member(400)], young).compact).toBeUndefined();
    expect(plan([member(400)], young, 99_999).compact).toBeUndefined();
    expect(plan([member(400)], young, 100_000).compact).toMatchObject({ revision: 800n });
  });

  test('follows the member that uses most of its quota, and leaves out one that does not answer', () => {
    const other = member(410, { endpoint: 'etcd-2:2379' });
    expect(plan([member(300), failed, other]).compact).toMatchObject({ member: { endpoint: 'etcd-2:2379' } });
    expect(plan([member(300, { quotaBytes: 700 * mebibyte }), member(399)]).compact).toMatchObject({
      member: { inUseBytes: 300 * mebibyte },
    });
  });

  test('compacts again only when a tenth of the quota, or an eighth of the reserve, was filled since', () => {
    const first = plan([member(450)]);
    expect(first.compact).toBeDefined();
    const compact = (inUse: number, memory: CompactionMemory) => {
      const later = { ...memory, seen: [...memory.seen, { revision: 1100n, at: now + 1, grown: 0 }] };
      return plan([member(inUse, { revision: 1100n })], later, now + 100_000).compact;
    };
    // Nothing of the 450 MiB was history.
    const kept = plan([member(450)], first.memory, now + 3_000).memory;
    expect(compact(549, kept)).toBeUndefined();
    expect(compact(550, kept)).toBeDefined();
    // It freed 350 MiB.
    const freed = plan([member(100)], first.memory, now + 3_000).memory;
    expect(compact(399, freed)).toBeUndefined();
    expect(compact(400, freed)).toBeDefined();
    const crowded = { ...freed, leastBytes: 900 * mebibyte };
    expect(compact(912, crowded)).toBeUndefined();
    expect(compact(913, crowded)).toBeDefined();
    // At 80%, to see whether it is live data.
    const nearly = { ...freed, leastBytes: 740 * mebibyte };
    expect(compact(799, nearly)).toBeUndefined();
    expect(compact(800, nearly)).toBeDefined();
  });

  test('compacts each revision once', () => {
    const { memory } = plan([member(450)]);
    expect(plan([member(999)], { ...memory, seen }, now).compact).toMatchObject({ revision: 900n });
    const same = { ...memory, seen, compacted: { revision: 1000n, at: now, grown: 0 } };
    expect(plan([member(999)], same, now + 60_000).compact).toBeUndefined();
  });

  test('frees history earlier when the file is large, because free pages may be too scattered', () => {
    expect(plan([member(150, { sizeBytes: 799 * mebibyte })]).compact).toBeUndefined();
    expect(plan([member(150, { sizeBytes: 800 * mebibyte })]).compact).toBeDefined();
    expect(plan([member(99, { sizeBytes: 800 * mebibyte })]).compact).toBeUndefined();
  });

  test('says that there is no reserve when live data fills the quota, once a compaction has shown it', () => {
    const full = [member(850)];
    expect(plan(full, { seen: [] }).without).toBe('unknown');
    const { memory } = plan(full);
    expect(plan(full, memory, now + 29_999).without).toBe('unknown');
    expect(plan(full, memory, now + 30_000).without).toEqual({
      reason: 'LiveDataTooLarge',
      message: expect.stringMatching(/^850 MiB of the quota of 1000 MiB of etcd-0:2379 are in use, also after/),
    });
    expect(plan([member(799)], memory, now + 30_000).without).toBeUndefined();
    // What came after the compaction may be history.
    const freed = { ...memory, leastBytes: 790 * mebibyte };
    expect(plan([member(810)], freed, now + 30_000).without).toBeUndefined();
  });

  test('says when there is no quota, and nothing when nobody answers', () => {
    expect(plan([member(1, { quotaBytes: 0 })])).toMatchObject({ without: { reason: 'QuotaUnknown' } });
    expect(plan([member(1, { quotaBytes: -1 })])).toMatchObject({ without: { reason: 'QuotaUnknown' } });
    expect(plan([failed])).toEqual({ without: 'unknown', memory: { seen }, afterMs: 60_000 });
  });

  test('begins again with an etcd that was restored from a backup', () => {
    const { memory, compact } = plan([member(950, { revision: 500n })], {
      seen,
      compacted: { revision: 50n, at: 1, grown: 0 },
    });
    expect(compact).toBeUndefined();
    expect(memory).toMatchObject({ seen: [{ revision: 500n, at: now }] });
    expect(memory.compacted).toBeUndefined();
  });

  test('remembers a revision that lasts by its first look, and no more than it needs', () => {
    let memory: CompactionMemory = { seen: [] };
    for (let at = 0; at <= 600_000; at += 3_000) ({ memory } = plan([member(1, { revision: 7n })], memory, at));
    expect(memory.seen).toEqual([{ revision: 7n, at: 0, grown: 0 }]);
    for (let at = 603_000; at <= 3_000_000; at += 3_000) {
      ({ memory } = plan([member(1, { revision: BigInt(at) })], memory, at));
    }
    // A quarter of an hour.
    expect(memory.seen.map(({ at }) => at)).toEqual(
      Array.from({ length: 300 }, (_, index) => 2_103_000 + 3_000 * index),
    );
  });

  test('looks sooner the less room there is, and the faster it is filled', () => {
    const after = (inUse: number, last?: CompactionMemory['last']): number =>
      plan([member(inUse)], { seen, ...(last !== undefined && { last }) }).afterMs;
    expect(after(200)).toBe(10_000);
    expect(after(360)).toBe(8_000);
    expect(after(999)).toBe(3_000);
    // 50 MiB in a second.
    expect(after(400, { ...{ bytes: 350 * mebibyte, bytesPerSecond: 0 }, at: now - 1_000, isFreeing: false })).toBe(
      3_000,
    );
    expect(after(200, { ...{ bytes: 900 * mebibyte, bytesPerSecond: 0 }, at: now - 1_000, isFreeing: false })).toBe(
      10_000,
    );
  });

  test('never lets what is overwritten use up the quota, if its live data leaves room for a minute of it', () => {
    fc.assert(
      fc.property(
        fc.record({
          quota: fc.integer({ min: 256, max: 8192 }),
          livePercent: fc.integer({ min: 0, max: 60 }),
          seconds: fc.integer({ min: 60, max: 600 }),
          deletionSeconds: fc.integer({ min: 0, max: 5 }),
          restSeconds: fc.integer({ min: 0, max: 300 }),
        }),
        ({ quota, livePercent, seconds, ...times }) => {
          const live = (quota * livePercent) / 100;
          const rate = Math.min((quota - live) / seconds, 40);
          const { most, compactions } = overwritten({ quota, live, rate, ...times });
          expect(most).toBeLessThan(quota);
          // At most one in three seconds.
          expect(compactions).toBeLessThan(320);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('removes history in portions while it comes, so that etcd is never blocked for long', () => {
    const times = { deletionSeconds: 1, restSeconds: 60 };
    const { most, largest } = overwritten({ quota: 4096, live: 100, rate: 17, ...times });
    expect(most).toBeLessThan(0.55 * 4096);
    expect(largest).toBeLessThan(300);
    // What the first look did not see may come in one.
    const late = { revision: 10n, at: 0, grown: 0 };
    expect(plan([member(450)], { seen: [late, ...seen.slice(1)] }).compact).toMatchObject({ revision: 700n });
  });

  test('removes it at once where space is more urgent', () => {
    const steps = seen.map((one, index) => ({ ...one, grown: 100 * index * mebibyte }));
    expect(plan([member(599)], { seen: steps }).compact).toMatchObject({ revision: 164n });
    expect(plan([member(600)], { seen: steps }).compact).toMatchObject({ revision: 800n });
  });

  test('compacts live data that came quickly a few times, and no more once it rests', () => {
    let memory: CompactionMemory = { seen: [] };
    let [at, revision, compactions] = [0, 0, 0];
    const look = (inUse: number, revisions: number): void => {
      revision += revisions;
      const next = plan([member(inUse, { revision: BigInt(revision) })], memory, at);
      at += next.afterMs;
      ({ memory } = next);
      compactions += Number(next.compact !== undefined);
    };
    for (let inUse = 0; inUse <= 800; inUse += 20) look(inUse, 20);
    const before = compactions;
    expect(before).toBeLessThan(20);
    // An etcd at rest has revisions, too.
    for (let count = 0; count < 1000; count += 1) look(800, 600);
    expect(compactions - before).toBeLessThan(10);
    expect(memory.isFlooded).toBe(false);
  });

  test('leaves live data alone that fills half of the quota', () => {
    expect(overwritten({ quota: 4096, live: 2048, rate: 0.01, deletionSeconds: 1, restSeconds: 0 }).compactions).toBe(
      1,
    );
  });
});

/** A quarter of an hour of an etcd in which, after a rest, so many MiB are overwritten in a second; a revision for each tenth of a second. */
function overwritten({
  quota,
  live,
  rate,
  deletionSeconds,
  restSeconds,
}: {
  readonly quota: number;
  readonly live: number;
  readonly rate: number;
  readonly deletionSeconds: number;
  readonly restSeconds: number;
}): { readonly most: number; readonly compactions: number; readonly largest: number } {
  let memory: CompactionMemory = { seen: [] };
  let [look, compactions, most, largest, freed] = [0, 0, 0, 0, restSeconds * 10];
  let compacted = freed;
  const pending: { readonly revision: number; readonly at: number }[] = [];
  for (let tick = 1; tick <= 9_000; tick += 1) {
    const at = tick * 100;
    while (pending[0] !== undefined && at >= pending[0].at) freed = Math.max(freed, pending.shift()?.revision ?? 0);
    const inUseBytes = Math.round((live + (rate * Math.max(tick - freed, 0)) / 10) * mebibyte);
    most = Math.max(most, inUseBytes / mebibyte);
    if (at < look) continue;
    const one = member(0, { inUseBytes, sizeBytes: inUseBytes, quotaBytes: quota * mebibyte, revision: BigInt(tick) });
    const next = planCompaction({ answers: [one], limits, memory, now: at });
    ({ memory } = next);
    look = at + next.afterMs;
    if (next.compact === undefined) continue;
    compactions += 1;
    const revision = Number(next.compact.revision);
    largest = Math.max(largest, (rate * (revision - compacted)) / 10);
    compacted = Math.max(compacted, revision);
    pending.push({ revision, at: at + deletionSeconds * 1000 });
  }
  return { most, compactions, largest };
}

import type { CompactionLimits, CompactionMemory, CompactionStep, LastLook, SeenRevision } from '../../compaction.ts';
import type { LivingMember, MemberAnswer } from '../client.ts';
import { mebibytes } from '../defragmentation/plan.ts';
import { portionOf } from './portion.ts';

/** What a plan is made of. */
export interface CompactionInput {
  /** One of each endpoint. */
  readonly answers: readonly MemberAnswer[];
  readonly limits: CompactionLimits;
  readonly memory: CompactionMemory;
  /** On the monotonic clock, after the members answered. */
  readonly now: number;
}

/** What is to be compacted, if anything, and what is remembered when that is done. */
export interface CompactionPlan extends Pick<CompactionStep, 'without' | 'memory' | 'afterMs'> {
  readonly compact?: {
    readonly revision: bigint;
    /** Milliseconds of history that will be left, or more. */
    readonly historyMs: number;
    /** The member with the least room. */
    readonly member: LivingMember;
  };
}

/** Between two looks, in milliseconds. */
const shortest = 3_000;
const longest = 60_000;

/** So much is written through two API servers that do nothing else, in bytes per second. */
const fastest = 40 * 2 ** 20;

/** From this part of the quota on, only `shortestHistoryMs` is kept. */
const crowdedPart = 0.9;
const shortestHistoryMs = 3_000;

/** From this part of the quota on, a file is large, whatever of it is free: free pages may be too scattered for large values. */
const largeFile = 0.8;

/** etcd deletes compacted history in batches, after its answer: by then it is done. */
const freedAfterMs = 30_000;

/** With more live data than this part of the quota, there is no reserve. */
const liveDataPart = 0.8;

/** A compaction reads all live data: the next one follows when this part of the quota, or an eighth of the reserve, was filled. */
const stepPart = 0.1;
const leastStepPart = 0.01;

/** So much further beyond the limit, in percent of the quota, space matters more than the pause that a large compaction is. */
const urgentPercent = 20;

/** etcd reads so many bytes of live data in a second for a compaction, without blocking others. */
const readPerSecond = 200 * 2 ** 20;

/** While as much history as this has become old, in bytes, it is compacted at every other look: then it is still in memory. */
const worthwhile = 16 * 2 ** 20;

/** A flood is over when nothing was compacted for so long. */
const calmMs = 60_000;

/** Growth is remembered for so long: etcd has compacted by itself what is older. */
const rememberedMs = 15 * 60_000;

/**
 * Whether history is compacted now, and up to which revision: the newest one that is old enough, in portions that do not block etcd for long.
 * The quota counts the file, in which a compaction frees pages for new data; so the member with the least room decides. The fuller it is,
 * the less history is kept, and the sooner the next look follows. Live data that lasts is noticed by what the last compaction did not
 * free, and is not compacted again and again.
 */
export function planCompaction({ answers, limits, memory, now }: CompactionInput): CompactionPlan {
  const living = answers.filter((answer) => 'version' in answer);
  const member = fullest(living);
  if (member === undefined) return { ...quotaUnknown(living), memory, afterMs: longest };
  const newest = living.reduce((most, { revision }) => (revision > most ? revision : most), 0n);
  const before = knownOf(memory, newest);
  const bytesPerSecond = writeRate(member, before.last, now);
  const known = lookedAt(before, { member, newest, bytesPerSecond, now, limits });
  const paceMs = pace(member, bytesPerSecond);
  const target = known.seen.findLast(({ at }) => now - at >= historyToKeep(member, limits));
  const since = known.compacted ?? known.seen[0];
  const liveBytes = Math.max(member.inUseBytes - ((known.seen.at(-1)?.grown ?? 0) - (since?.grown ?? 0)), 0);
  // A compaction reads all live data.
  const afterMs = Math.min(shortest + (liveBytes * 1000) / readPerSecond, paceMs);
  const isUrgent = member.inUseBytes * 100 >= member.quotaBytes * (limits.usedPercent + urgentPercent);
  // Every other look only measures what is written.
  const mayCompact = isUrgent || before.last?.isFreeing !== true;
  if (
    !mayCompact ||
    target === undefined ||
    since === undefined ||
    !isNeeded({ target, since, known, liveBytes, member, limits })
  ) {
    const without = reserveOf(member, known, now);
    const isFlooded = known.isFlooded === true && now - (known.compacted?.at ?? 0) < calmMs;
    const memoryAfter = { ...known, isFlooded };
    return { ...(without !== undefined && { without }), memory: memoryAfter, afterMs: isFlooded ? afterMs : paceMs };
  }
  const { inUseBytes, quotaBytes } = member;
  const growing = (bytesPerSecond * 2 * afterMs) / 1000;
  const upTo = isUrgent ? target : portionOf(known.seen, { since, target, liveBytes, growing });
  const compacted = { ...upTo, at: now };
  return {
    compact: { revision: upTo.revision, historyMs: now - target.at, member },
    ...(inUseBytes >= quotaBytes * liveDataPart && { without: 'unknown' }),
    memory: {
      ...{ ...known, compacted, isFlooded: true, leastBytes: inUseBytes },
      last: { at: now, bytes: inUseBytes, bytesPerSecond, isFreeing: true },
    },
    afterMs,
  };
}

/** The member that uses most of its quota. */
function fullest(living: readonly LivingMember[]): LivingMember | undefined {
  const used = ({ inUseBytes, quotaBytes }: LivingMember): number => inUseBytes / quotaBytes;
  const [first, ...others] = living.filter(({ quotaBytes }) => quotaBytes > 0);
  return first && others.reduce((most, one) => (used(one) > used(most) ? one : most), first);
}

/** Nothing while no member answers, which other conditions report. */
function quotaUnknown([first]: readonly LivingMember[]): Pick<CompactionPlan, 'without'> {
  if (first === undefined) return { without: 'unknown' };
  const message = `${first.endpoint} reports no quota, so nothing says when its history has to be compacted: set --quota-backend-bytes`;
  return { without: { reason: 'QuotaUnknown', message } };
}

/** What still holds of an etcd with this revision: one that was restored from a backup begins again. */
function knownOf(memory: CompactionMemory, newest: bigint): CompactionMemory {
  const isRestored = (memory.seen.at(-1)?.revision ?? memory.compacted?.revision ?? 0n) > newest;
  return isRestored ? { seen: [] } : memory;
}

/** With this look: a revision that lasts is as old as its first look, and what nothing needs is forgotten. */
function lookedAt(
  before: CompactionMemory,
  {
    member,
    newest,
    bytesPerSecond,
    now,
    limits,
  }: Pick<CompactionInput, 'now' | 'limits'> &
    Pick<LastLook, 'bytesPerSecond'> & { readonly member: LivingMember; readonly newest: bigint },
): CompactionMemory {
  const { seen, compacted, last } = before;
  const previous = seen.at(-1);
  const grown = (previous?.grown ?? 0) + (bytesPerSecond * (now - (last?.at ?? now))) / 1000;
  const all = previous?.revision === newest ? seen : [...seen, { revision: newest, at: now, grown }];
  const isNeeded = ({ revision, at }: SeenRevision): boolean =>
    now - at < rememberedMs && revision >= (compacted?.revision ?? 0n);
  const oldest = all.findLastIndex(({ at }) => now - at >= limits.historyMs);
  return {
    ...before,
    seen: all.filter((one, index) => index >= oldest || isNeeded(one)),
    ...(before.leastBytes !== undefined && { leastBytes: Math.min(before.leastBytes, member.inUseBytes) }),
    last: { at: now, bytes: member.inUseBytes, bytesPerSecond, isFreeing: false },
  };
}

/** Whether there is something to compact that is worth it. */
function isNeeded({
  target,
  since,
  known: { compacted, isFlooded = false, leastBytes },
  liveBytes,
  member,
  limits,
}: {
  readonly target: SeenRevision;
  readonly since: SeenRevision;
  readonly known: CompactionMemory;
  readonly liveBytes: number;
  readonly member: LivingMember;
  readonly limits: CompactionLimits;
}): boolean {
  if (target.revision <= (compacted?.revision ?? 0n)) return false;
  const left = target.grown - since.grown;
  if (isFlooded && left >= Math.max(worthwhile, liveBytes / 16)) return true;
  return member.inUseBytes >= threshold(member, limits, leastBytes);
}

/** Milliseconds of history that are kept: all of it at the limit, and less the nearer the quota is. */
function historyToKeep({ inUseBytes, quotaBytes }: LivingMember, { usedPercent, historyMs }: CompactionLimits): number {
  const begin = usedPercent / 100;
  const room = (crowdedPart - inUseBytes / quotaBytes) / (crowdedPart - begin);
  const least = Math.min(shortestHistoryMs, historyMs);
  return least + (historyMs - least) * Math.min(Math.max(room, 0), 1);
}

/** Bytes in use from which on history is compacted. */
function threshold({ sizeBytes, quotaBytes }: LivingMember, { usedPercent }: CompactionLimits, leastBytes = 0): number {
  const limit = sizeBytes >= quotaBytes * largeFile ? 0 : (quotaBytes * usedPercent) / 100;
  const step = quotaBytes * stepPart;
  // Whether it is live data shows at the latest when the reserve is used up.
  const lastStep = Math.max((quotaBytes - leastBytes) / 8, quotaBytes * leastStepPart);
  const reserve = Math.max(quotaBytes * liveDataPart, leastBytes + lastStep);
  return Math.min(Math.max(limit, leastBytes + step), reserve);
}

/** Bytes that were written in a second since the last look; as before, where a compaction has freed some meanwhile. */
function writeRate({ inUseBytes }: LivingMember, last: LastLook | undefined, now: number): number {
  if (last === undefined || now <= last.at) return 0;
  if (last.isFreeing) return last.bytesPerSecond;
  return (Math.max(inUseBytes - last.bytes, 0) * 1000) / (now - last.at);
}

/** Before half of the rest can be filled: as fast as two API servers write, or twice as fast as since the last look. */
function pace({ inUseBytes, quotaBytes }: LivingMember, bytesPerSecond: number): number {
  const afterMs = (((quotaBytes - inUseBytes) / 2) * 1000) / Math.max(2 * bytesPerSecond, fastest);
  return Math.min(Math.max(afterMs, shortest), longest);
}

/** What a compaction has not freed is live data, but for the last seconds of history. */
function reserveOf(
  { endpoint, inUseBytes, quotaBytes }: LivingMember,
  { compacted, leastBytes }: CompactionMemory,
  now: number,
): CompactionPlan['without'] {
  if (inUseBytes < quotaBytes * liveDataPart) return undefined;
  if (leastBytes === undefined || compacted === undefined || now - compacted.at < freedAfterMs) return 'unknown';
  if (leastBytes < quotaBytes * liveDataPart) return undefined;
  const help = 'delete or migrate tenants, or raise --quota-backend-bytes';
  const message = `${mebibytes(leastBytes)} of the quota of ${mebibytes(quotaBytes)} of ${endpoint} are in use, also after a compaction: ${help}`;
  return { reason: 'LiveDataTooLarge', message };
}

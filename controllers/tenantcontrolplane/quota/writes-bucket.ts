/** How often a tenant was written to, at a moment. */
export interface WritesCount {
  /** Where it was counted: counts of two places cannot be compared. Undefined where others write as well, such as a migration. */
  readonly source: string | undefined;
  readonly writes: number;
  /** Milliseconds of a clock that only grows. */
  readonly atMs: number;
}

/** What a tenant may write: `limit` for each second, of which it can save up those of a minute. */
export interface WritesBucket {
  /** Writes a second. */
  readonly limit: number;
  /** Writes that are left; negative by what was written beyond. */
  readonly left: number;
  /** True from the moment at which nothing is left until half of the bucket is. */
  readonly isEmpty: boolean;
  /** True for a tenant that went on far beyond that, until it is no longer empty. */
  readonly isOverdrawn: boolean;
  readonly last: WritesCount;
  /** Writes since the first count, at the counts of the last minute and at the one before. */
  readonly seen: readonly { readonly atMs: number; readonly sum: number }[];
}

/** The bucket holds what may be written in so many seconds. */
const bucketSeconds = 60;

/**
 * What a tenant has written beyond its limit is held against it up to so many buckets: a deletion of very many objects, which is never
 * denied, must not block it for hours.
 */
const mostOwed = 10;

/** From so many buckets on, a tenant goes on with what is not denied to it: it is overdrawn. */
const overdrawnOwed = 5;

/** The rate is an average over the last so many milliseconds. */
const averagedMs = 60_000;

/** Most writes that the bucket can hold. */
const sizeOf = (limit: number): number => limit * bucketSeconds;

/** The bucket at a first count: full, or empty for a tenant that is blocked. */
export function firstBucket(limit: number, count: WritesCount, isBlocked: boolean): WritesBucket {
  const left = isBlocked ? 0 : sizeOf(limit);
  return { limit, left, isEmpty: isBlocked, isOverdrawn: false, last: count, seen: [{ atMs: count.atMs, sum: 0 }] };
}

/** The bucket after the next count. */
export function afterCount(before: WritesBucket, count: WritesCount): WritesBucket {
  const { limit, last, seen } = before;
  const isComparable = count.source !== undefined && count.source === last.source && count.writes >= last.writes;
  const written = isComparable ? count.writes - last.writes : 0;
  const refilled = (limit * (count.atMs - last.atMs)) / 1000;
  const size = sizeOf(limit);
  const left = Math.max(Math.min(before.left + refilled - written, size), -mostOwed * size);
  const all = [...seen, { atMs: count.atMs, sum: (seen.at(-1)?.sum ?? 0) + written }];
  const first = all.findLastIndex(({ atMs }) => atMs <= count.atMs - averagedMs);
  const isEmpty = before.isEmpty ? left < size / 2 : left <= 0;
  return {
    ...{ limit, left, isEmpty, last: count },
    isOverdrawn: isEmpty && (before.isOverdrawn || left <= -overdrawnOwed * size),
    seen: all.slice(Math.max(first, 0)),
  };
}

/** Writes a second on average over about the last minute; undefined after one count. */
export function perSecond({ seen }: WritesBucket): number | undefined {
  const [first, last] = [seen.at(0), seen.at(-1)];
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return undefined;
  return ((last.sum - first.sum) * 1000) / (last.atMs - first.atMs);
}

/** In how many milliseconds half of the bucket is left, if nothing is written until then. */
export function refilledInMs({ limit, left }: WritesBucket): number {
  return Math.max(0, Math.ceil(((sizeOf(limit) / 2 - left) * 1000) / limit));
}

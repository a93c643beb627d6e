import type { SeenRevision } from '../../compaction.ts';

/**
 * Bytes of history that one compaction removes at least. etcd reads them without pause where values are large, and answers
 * nobody meanwhile: a second for each 100 MiB that are no longer in memory.
 */
const smallest = 64 * 2 ** 20;

/** To keep up with a flood it removes more, but not without bounds: what was written is not known exactly. */
const mostForFlood = 256 * 2 ** 20;
const floodFactor = 1.5;

/** A compaction also reads all live data, so it removes at least this part of it. */
const liveDataParts = 8;

/** What bounds a portion. */
interface Bounds {
  /** Up to where history is compacted already, or where it was first seen. */
  readonly since: SeenRevision;
  /** Up to where it may be compacted. */
  readonly target: SeenRevision;
  /** Bytes of live data, about. */
  readonly liveBytes: number;
  /** Bytes by which the datastore grows until the next portion: less would not keep up. */
  readonly growing: number;
}

/** Up to where the next portion reaches: by how much the datastore grew from one seen revision to the next. */
export function portionOf(seen: readonly SeenRevision[], { since, target, liveBytes, growing }: Bounds): SeenRevision {
  const end =
    since.grown + Math.max(smallest, liveBytes / liveDataParts, Math.min(floodFactor * growing, mostForFlood));
  if (target.grown <= end) return target;
  const after = seen.find((one) => one.grown > end) ?? target;
  const before = seen.findLast((one) => one.revision < after.revision && one.revision > since.revision) ?? since;
  const part = (end - before.grown) / (after.grown - before.grown);
  const revisions = BigInt(Math.floor(Number(after.revision - before.revision) * part));
  const revision = before.revision + revisions;
  // Never without progress.
  if (revision <= since.revision) return { ...since, revision: since.revision + 1n };
  return { revision, at: before.at, grown: end };
}

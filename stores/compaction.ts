import type { Clock } from '../runtime/clock.ts';

/** When the history of a datastore is compacted early. */
export interface CompactionLimits {
  /** Part of the quota that is in use, in percent, from which on history is compacted early. */
  readonly usedPercent: number;
  /** Milliseconds of history that are kept, as long as there is room. */
  readonly historyMs: number;
}

/** A revision that was the newest one at this time on the monotonic clock, or before. */
export interface SeenRevision {
  readonly revision: bigint;
  readonly at: number;
  /** Bytes that were written from the first look to this one, about. */
  readonly grown: number;
}

/** What the last look at a datastore found. */
export interface LastLook {
  /** On the monotonic clock. */
  readonly at: number;
  /** Bytes that were in use. */
  readonly bytes: number;
  /** Bytes that were written in a second, as last measured. */
  readonly bytesPerSecond: number;
  /** True if it compacted history, which is being freed: until the next look, growth does not say what is written. */
  readonly isFreeing: boolean;
}

/** What is remembered of a datastore between two looks at it. */
export interface CompactionMemory {
  /** In order, each revision once. */
  readonly seen: readonly SeenRevision[];
  /** Up to where history was compacted early, and when. */
  readonly compacted?: SeenRevision;
  /** True while history comes faster than the datastore itself removes it. */
  readonly isFlooded?: boolean;
  /** Fewest bytes that were in use since then: what a compaction does not free. */
  readonly leastBytes?: number;
  readonly last?: LastLook;
}

/** What is needed to compact the history of a datastore early. */
export interface CompactionRequest {
  readonly limits: CompactionLimits;
  readonly memory: CompactionMemory;
  readonly clock: Clock;
}

/** An early compaction of history. */
export interface EarlyCompaction {
  /** The server with the least room, as in the DataStore. */
  readonly endpoint: string;
  readonly time: Date;
  /** Bytes that were in use before it. */
  readonly inUseBytes: number;
  /** Milliseconds of history that it left. */
  readonly historyMs: number;
}

/** Why there is no room for history; these are reasons of the condition `SpaceReserved`. */
export type NoReserve = 'LiveDataTooLarge' | 'QuotaUnknown' | 'Failed';

/** What one look did. */
export interface CompactionStep {
  /** Absent when nothing was compacted. */
  readonly compaction?: EarlyCompaction;
  /** Why there is no room for history; `unknown` while only a compaction can show that. */
  readonly without?: { readonly reason: NoReserve; readonly message: string } | 'unknown';
  readonly memory: CompactionMemory;
  /** Milliseconds until the next look. */
  readonly afterMs: number;
}

import type { FloodStore } from '../flood/flood-rows.ts';

/** What a tenant that was destroyed and restored lost, and how long it was gone, with one datastore. Times are in milliseconds. */
export interface RestoreRow {
  readonly store: FloodStore;
  /** Objects that nothing changed meanwhile, and what they and all others of the tenant take in the datastore. */
  readonly objects: number;
  readonly bytes: number;
  readonly history: WrittenCounts;
  readonly latest: LatestRestore;
  readonly worker: WorkerReturn;
  /** The restore to a chosen second, into a tenant beside. */
  readonly chosen: ChosenRestore;
  /** Average load of the machine in the last minute, at the end. */
  readonly load: number;
  /** Why the datastore could not be measured; nothing else in the row has a meaning then. */
  readonly problem?: string;
}

/** What was written until the tenant was destroyed. */
export interface WrittenCounts {
  readonly acknowledged: number;
  /** How long it was written, and how many writes a second were acknowledged. */
  readonly seconds: number;
  readonly perSecond: number;
  /** Writes that failed before the destruction, and for example why. */
  readonly failed: number;
  readonly failure?: string;
}

/** The restore to the last known moment. */
export interface LatestRestore {
  /** From the newest acknowledged write before which none is lost to the last write that was acknowledged at all. */
  readonly rpoMs: number;
  /** Acknowledged writes that are lost, and those of them that were older than the limit. */
  readonly lost: number;
  readonly lostOlder: number;
  /** From the creation of the TenantRestore until it was Complete, the part of it for the data, and until the first write was answered. */
  readonly completeMs: number;
  readonly dataMs: number;
  readonly firstWriteMs: number;
  /** Objects that were compared, and what differs. */
  readonly compared: number;
  readonly differences: readonly string[];
}

/** What became of a worker that had joined before. */
export interface WorkerReturn {
  /** From the creation of the TenantRestore until its node was heard of again; absent when it was not. */
  readonly backMs?: number;
  /** Whether kubelet and pod are those of before, not started again. */
  readonly isSame: boolean;
}

/** The restore to a chosen moment. */
export interface ChosenRestore {
  readonly moment: string;
  /** The moment up to which the TenantRestore says that it restored. */
  readonly restoredTime: string;
  readonly completeMs: number;
  readonly dataMs: number;
  readonly bytes: number;
  /** Acknowledged before the moment, and not there. */
  readonly missing: number;
  /** Begun after the moment, and there nevertheless. */
  readonly early: number;
  /** How long before the moment the recorded history is as the tenant, at the latest; 0: at the moment itself; below 0: after it. */
  readonly beforeMs: number;
  readonly compared: number;
  readonly differences: readonly string[];
}

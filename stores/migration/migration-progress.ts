import type { MigrationPhase } from './migration-journal.ts';

/** How far a migration is, for status and Events. Plain JSON. */
export interface MigrationProgress {
  readonly phase: MigrationPhase;
  /** Keys of the source that the target is known to have; counts again when a copy begins anew. */
  readonly keys: number;
  /** Bytes of values written to the target since this process began. */
  readonly bytes: number;
  /** Keys and bytes per second, over the last seconds. */
  readonly keysPerSecond: number;
  readonly bytesPerSecond: number;
  /** Keys left to copy; absent while that is not known. An estimate: the tenant goes on writing. */
  readonly remainingKeys?: number;
  /** Decimal, while the target is raised: the revision that it has, and the one that it needs. */
  readonly raised?: { readonly reached: string; readonly wanted: string };
  /** What is waited for although it should have worked, e.g. a store that does not answer. It is tried again. */
  readonly problem?: string;
}

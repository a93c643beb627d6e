import type { MigrationPhase } from './migration-journal.ts';

/** How far a migration is, for status and Events. Plain JSON. */
export interface MigrationProgress {
  readonly phase: MigrationPhase;
  /** The number of keys of the source that are in the target; starts again at 0 when a copy is restarted. */
  readonly keys: number;
  /** Bytes of values written to the target since this process began. */
  readonly bytes: number;
  /** Keys and bytes per second, over the last seconds. */
  readonly keysPerSecond: number;
  readonly bytesPerSecond: number;
  /** Keys left to copy; absent while unknown. An estimate, because the tenant continues to write. */
  readonly remainingKeys?: number;
  /** Decimal, while the target's revision is raised: its current revision and the required one. */
  readonly raised?: { readonly reached: string; readonly wanted: string };
  /** A failure that is being retried, e.g. a datastore that does not answer. */
  readonly problem?: string;
}

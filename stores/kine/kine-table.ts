import type { KineHead, KineRow, NewKineRow } from './kine-row.ts';

/**
 * Access to the table `kine` in a tenancy's database; each SQL driver implements it. It uses one connection, with no more
 * permissions than the tenant if the tenant could create views, triggers or rules. Calls may overlap. Throws `StoreError`.
 */
export interface KineTable extends AsyncDisposable {
  /** Creates table and indexes as kine does, unless there is a table. */
  create(): Promise<void>;
  /** The highest id that is visible, and up to which one kine has compacted; 0 where there is none. */
  position(): Promise<{ readonly last: bigint; readonly compacted: bigint }>;
  /**
   * Waits for transactions that may have an id up to `through` and are not visible yet. When it resolves, no missing id up to there can
   * appear anymore. Does not block writers.
   */
  settle(through: bigint): Promise<void>;
  /** The number of keys: live names that `keyOf` maps to a key of the tenant. */
  count(): Promise<number>;
  /** The newest row of each name below `kineRoot` as of `revision`: names behind `after`, in the order of their bytes. */
  newest(revision: bigint, after: string, limit: number): Promise<readonly KineHead[]>;
  /** Rows of all names with ids above `after`, up to `through` where it is given, in the order of ids. */
  following(after: bigint, limit: number, through?: bigint): Promise<readonly KineHead[]>;
  /** The rows with these ids, in any order; deleted rows are left out. */
  read(ids: readonly bigint[]): Promise<readonly KineRow[]>;
  /** See `TenancyData.beginWrites`. */
  beginWrites(): Promise<void>;
  /** See `TenancyData.endWrites`. */
  endWrites(): Promise<void>;
  /**
   * Runs `work` in one transaction, in which it may write although the tenant is fenced. After `beginWrites` it takes effect only until
   * the writes of this connection are ended, and throws then.
   */
  writing<T>(work: (writer: KineWriter) => Promise<T>): Promise<T>;
  /** Blocks the tenant's writes, also over open connections, and waits for those in progress. */
  fence(): Promise<void>;
  /** Lets the fenced tenant append rows with names in `uncopiedNames`, and fill gaps; without effect where the table is too busy. */
  openUncopied?(): Promise<void>;
  unfence(): Promise<void>;
}

/** A transaction that writes into kine's table. */
export interface KineWriter {
  /** The newest row of each of these names. */
  latest(names: readonly string[]): Promise<readonly KineRow[]>;
  /** Appends rows, with ids in their order. */
  insert(rows: readonly NewKineRow[]): Promise<void>;
  /**
   * Makes the next id greater than `revision` with one row that fills the gap (kine would fill it row by row), and records everything up
   * to there as compacted, so that kine does not compact the gap and earlier clients list again. Changes nothing when the id is greater
   * already. Returns the highest id.
   */
  raise(revision: bigint): Promise<bigint>;
}

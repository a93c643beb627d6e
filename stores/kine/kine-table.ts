import type { KineHead, KineRow, NewKineRow } from './kine-row.ts';

/**
 * kine's table `kine` in a tenancy's database, as each SQL driver speaks to it. One connection, with the tenant's own login: what a
 * tenant can put behind a name (views, triggers, rules) runs with no more rights than the tenant has. Calls may overlap. Throws
 * `StoreError`.
 */
export interface KineTable extends AsyncDisposable {
  /** Makes table and indexes as kine makes them, unless there is a table. */
  create(): Promise<void>;
  /** The highest id that is visible, and up to which one kine has compacted; 0 where there is none. */
  position(): Promise<{ readonly last: bigint; readonly compacted: bigint }>;
  /**
   * Waits for the transactions that may have been given an id up to `through` and are not visible yet. When it resolves, an id
   * up to there that is missing will stay missing. Holds up no writer.
   */
  settle(through: bigint): Promise<void>;
  /** How many keys there are: live names that `keyOf` takes for the tenant's. */
  count(): Promise<number>;
  /** The newest row of each name below `kineRoot` as of `revision`: names behind `after`, in the order of their bytes. */
  newest(revision: bigint, after: string, limit: number): Promise<readonly KineHead[]>;
  /** Rows of all names with ids above `after`, up to `through` where it is given, in the order of ids. */
  following(after: bigint, limit: number, through?: bigint): Promise<readonly KineHead[]>;
  /** The rows with these ids, in any order; those that are gone are left out. */
  read(ids: readonly bigint[]): Promise<readonly KineRow[]>;
  /** Runs `work` in one transaction, in which it may write although the tenant is fenced. */
  writing<T>(work: (writer: KineWriter) => Promise<T>): Promise<T>;
  /** Takes the login its writes, also those over connections that are open, and waits for those under way. */
  fence(): Promise<void>;
  /** Lets the fenced login append rows of the names in `uncopiedNames`, and fill gaps; without effect where the table is too busy. */
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
   * Makes the next id greater than `revision` by one row that fills the gap (kine would fill it row by row), and tells kine that
   * everything up to there is compacted, so that it compacts no gap and clients of before read anew. Changes nothing when it is
   * greater already. Returns the highest id.
   */
  raise(revision: bigint): Promise<bigint>;
}

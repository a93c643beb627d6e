/** Which revision of which name a row is. The id is the revision. */
export interface KineHead {
  readonly id: bigint;
  readonly name: string;
  /** The key was deleted at this revision. */
  readonly deleted: boolean;
  /** Of its value. */
  readonly bytes: number;
}

/** A row of kine's table, without its previous value. */
export interface KineRow {
  readonly id: bigint;
  readonly name: string;
  /** The key was created at this revision; `createRevision` is 0 then. */
  readonly created: boolean;
  readonly deleted: boolean;
  readonly createRevision: bigint;
  /** Seconds to live, counted by a kine process from when it sees the row; 0 for ever. */
  readonly lease: number;
  readonly value: Uint8Array;
}

/** A row as kine would append it: the id is the next of the sequence. */
export interface NewKineRow {
  readonly name: string;
  readonly created: boolean;
  readonly deleted: boolean;
  readonly createRevision: bigint;
  /** The id of the row before it of the same name; 0 for the first one. */
  readonly prevRevision: bigint;
  readonly lease: number;
  /** Null for a deletion. */
  readonly value: Uint8Array | null;
  /** The value of the row before it; null for the first one. */
  readonly oldValue: Uint8Array | null;
}

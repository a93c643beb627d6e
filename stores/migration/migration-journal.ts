/**
 * Where a migration is. In this order:
 * - Preparing: the target's revisions are raised above the source's;
 * - Copying: everything as of one revision is copied, by pages;
 * - Following: what changed since is copied, again and again, and all is compared once;
 * - WaitingForReadOnly: the same, while the tenant becomes read-only;
 * - Finishing: the tenant's credentials can no longer write to the source, the last changes are copied and verified;
 * - Done: the target is complete; the source stays fenced and whole.
 *
 * Or, from any but Done: RollingBack (the source accepts writes again, the target is emptied) and RolledBack.
 */
export type MigrationPhase =
  'Preparing' | 'Copying' | 'Following' | 'WaitingForReadOnly' | 'Finishing' | 'Done' | 'RollingBack' | 'RolledBack';

/** What a finished migration did. Plain JSON. */
export interface MigrationSummary {
  /** Keys in the target. */
  readonly keys: number;
  /** Bytes of the values, and a checksum over the keys without a time to live, both from the last full comparison. */
  readonly bytes: number;
  /** 64 hexadecimal digits, independent of the order of the keys; equal in both datastores. */
  readonly fingerprint: string;
  /**
   * What was compared while the source was fenced: everything, or, where that would take long, all that changed since everything
   * was compared.
   */
  readonly verified: 'everything' | 'changes';
  /** Milliseconds from before the source was fenced until everything was verified; undefined after a crash in between. */
  readonly fencedMs?: number;
  /** Decimal: the source's revision once it was fenced, and the target's, which is greater. */
  readonly sourceRevision: string;
  readonly targetRevision: string;
}

/** What must survive a crash. Plain JSON: it fits an annotation or a ConfigMap. */
export interface MigrationRecord {
  readonly phase: MigrationPhase;
  /** Decimal. The target has everything of the source up to this revision; absent before Following. */
  readonly revision?: string;
  /** How often the last step was begun; absent before the first time. */
  readonly tries?: number;
  /** Why it is rolled back, for a person. */
  readonly reason?: string;
  /** In Done. */
  readonly summary?: MigrationSummary;
}

/** Keeps the record of one migration. A new migration of the same tenant begins with an empty journal. */
export interface MigrationJournal {
  /** Undefined before the first `write`. */
  read(): Promise<MigrationRecord | undefined>;
  /**
   * Replaces the record; when it resolves, every later `read` returns it. Must throw when another process has written since this one last
   * read or wrote: two engines on one tenant would revert each other's fence. The engine writes once before it does anything, so that
   * the process that it replaces can no longer write.
   */
  write(record: MigrationRecord): Promise<void>;
}

import type { Clock } from '../../runtime/clock.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { ReadOnlyHandshake } from './read-only-handshake.ts';
import type { MigrationJournal, MigrationSummary } from './migration-journal.ts';
import type { MigrationProgress } from './migration-progress.ts';

/** Opens the data of a tenancy that exists. Called again after a failure; the engine disposes of what it got. */
export type OpenData = () => Promise<TenancyData>;

/** What a migration needs. */
export interface MigrationOptions {
  readonly source: OpenData;
  /** A tenancy that `Session.ensure` created and that no API server uses yet. Its content is replaced. */
  readonly target: OpenData;
  readonly journal: MigrationJournal;
  readonly freeze: ReadOnlyHandshake;
  readonly clock: Clock;
  /**
   * The process ends: the engine stops and throws the signal's reason; another process continues with the same journal. A last step that
   * has begun is finished first.
   */
  readonly signal: AbortSignal;
  /** Cancels the migration: it is rolled back with the reason's message. Has no effect once it is Done. */
  readonly cancel?: AbortSignal;
  /** Called on every change of phase and, in between, at most once a second. Must not throw. */
  readonly report?: (progress: MigrationProgress) => void;
  /**
   * Milliseconds after which a fenced source accepts writes again if the last step is not done; default 30,000. The step is retried a
   * little later, up to three times, then the migration is rolled back.
   */
  readonly longestFenceMs?: number;
}

/** How a migration ended. */
export type MigrationOutcome =
  /** The target is equal to the source, which is fenced. The caller switches the tenant now. */
  | { readonly is: 'done'; readonly summary: MigrationSummary }
  /** The source accepts writes and was never changed; the target is empty. `reason` is for a person. */
  | { readonly is: 'rolled-back'; readonly reason: string };

/**
 * Copies a tenant's data to another datastore while the tenant writes, and fences it only for the last step. Every step may be
 * repeated: call it again with the same journal after a crash. It waits for datastores that do not answer; permanent failures roll back.
 * At most one process may run it for a tenant at a time.
 *
 * Resolves with the outcome, also when the journal has it already. Rejects with the signal's reason, with what the journal or the
 * handshake throws, and with programming errors. When the journal fails in the last step, the source stays fenced, because it is unknown
 * whether the journal contains Done: the next process finds out.
 */
export type Migrate = (options: MigrationOptions) => Promise<MigrationOutcome>;

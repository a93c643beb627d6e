import type { Clock } from '../../runtime/clock.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { FreezeHandshake } from './freeze-handshake.ts';
import type { MigrationJournal, MigrationSummary } from './migration-journal.ts';
import type { MigrationProgress } from './migration-progress.ts';

/** Opens the data of a tenancy that exists. Called again after a failure; the engine disposes of what it got. */
export type OpenData = () => Promise<TenancyData>;

/** What a migration needs. */
export interface MigrationOptions {
  readonly source: OpenData;
  /** A tenancy that `Session.ensure` made and that no API server uses yet. What it holds already is replaced. */
  readonly target: OpenData;
  readonly journal: MigrationJournal;
  readonly freeze: FreezeHandshake;
  readonly clock: Clock;
  /**
   * The process ends: the engine stops where it is and throws the signal's reason; another process goes on with the same
   * journal. A last step that has begun is finished first.
   */
  readonly signal: AbortSignal;
  /** The migration is not wanted any more: it is rolled back. The reason's message is told. Too late once it is Done. */
  readonly cancel?: AbortSignal;
  /** Called on every change of phase and, in between, at most once a second. Must not throw. */
  readonly report?: (progress: MigrationProgress) => void;
  /**
   * Milliseconds after which a source that is fenced gets its writes back when the last step is not done, 30,000 unless said.
   * The step is tried anew a little later, three times, then the migration is rolled back.
   */
  readonly longestFenceMs?: number;
}

/** How a migration ended. */
export type MigrationOutcome =
  /** The target holds exactly what the source holds, which is fenced. Now the tenant is to be switched. */
  | { readonly is: 'done'; readonly summary: MigrationSummary }
  /** The source has its writes and was never changed; the target is empty. `reason` is for a person. */
  | { readonly is: 'rolled-back'; readonly reason: string };

/**
 * Copies a tenant's data to another store while the tenant writes, and fences it for the last step only. Every step may be
 * repeated: call it again with the same journal after a crash. Stores that do not answer are waited for; failures that waiting
 * cannot mend roll back. At most one process may run it for a tenant at a time.
 *
 * Resolves with the outcome, also when the journal has it already. Rejects with the signal's reason, with what the journal or
 * the handshake throws, and with programming errors. When the journal fails in the last step the source stays fenced, for
 * nobody knows then whether the journal says Done: the next process settles it.
 */
export type Migrate = (options: MigrationOptions) => Promise<MigrationOutcome>;

import { StoreError } from '../store-error.ts';
import { CompactedError } from '../tenancy-data.ts';
import type { MigrationPhase } from './migration-journal.ts';

/** Thrown when the content of the datastores differs although it must not. */
export class UnequalError extends Error {
  override readonly name = 'UnequalError';
}

/** Thrown when a source stays fenced for longer than allowed. */
export class FencedTooLongError extends Error {
  override readonly name = 'FencedTooLongError';
}

/** Thrown by the next step after a migration was canceled. */
export class CanceledError extends Error {
  override readonly name = 'CanceledError';
}

/** Wraps an error of the journal, which is the cause. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

/** What failed before. */
export interface Setbacks {
  /** Failures since anything last worked. */
  readonly inARow: number;
  /** How often the last step was begun. */
  readonly tries: number;
  /** Comparisons that found the stores unequal. */
  readonly unequal: number;
  /** How often the required revision had been compacted. */
  readonly compacted: number;
}

/** What is done about a failure. */
export type FailurePlan =
  /** The same step once more, after a while. */
  | { readonly is: 'again'; readonly afterMs: number; readonly problem: string }
  /** Back to an earlier phase; from Finishing, the source accepts writes again. */
  | { readonly is: 'go back'; readonly to: 'Copying' | 'Following'; readonly afterMs: number; readonly problem: string }
  | { readonly is: 'roll back'; readonly reason: string }
  /** Not caused by the datastores: this engine cannot handle it. */
  | { readonly is: 'throw' };

/** Attempts of something that no datastore should refuse, before the migration is rolled back. */
const mostInARow = 5;

/** How often the last step may be started: each failure, and each death of its process, is a pause for the tenant. */
export const mostTries = 3;

/** Number of comparisons with a difference that end the migration. */
const mostUnequal = 2;

/** Number of compactions during a copy that end the migration: a datastore that compacts faster than it is read will not change. */
const mostCompacted = 6;

const hopeless: ReadonlySet<string> = new Set(['Unsupported', 'OwnedByAnother', 'InvalidName', 'SingleTenant']);
const patient: ReadonlySet<string> = new Set([
  'Unreachable',
  'Unauthorized',
  'CredentialsMissing',
  'CredentialsInvalid',
]);

/** A second, two, four, up to half a minute. */
export function pauseMs(inARow: number): number {
  return Math.min(30_000, 1000 * 2 ** Math.min(inARow, 5));
}

/** What is done about a failure in a phase. Pure. */
export function planFor(error: unknown, phase: MigrationPhase, setbacks: Setbacks): FailurePlan {
  if (phase === 'RollingBack') return whileRollingBack(error, setbacks);
  if (error instanceof CanceledError) return { is: 'roll back', reason: error.message };
  if (error instanceof CompactedError) return afterCompaction(error.message, phase, setbacks);
  if (error instanceof UnequalError) {
    if (setbacks.unequal + 1 >= mostUnequal) return { is: 'roll back', reason: error.message };
    return { is: 'go back', to: 'Copying', afterMs: 0, problem: `${error.message}: everything is compared again` };
  }
  if (error instanceof FencedTooLongError) return afterFinishing(error.message, setbacks);
  if (!(error instanceof StoreError)) return { is: 'throw' };
  if (hopeless.has(error.reason)) return { is: 'roll back', reason: error.message };
  if (!patient.has(error.reason) && setbacks.inARow + 1 >= mostInARow) {
    return { is: 'roll back', reason: `${error.message} (tried ${mostInARow} times)` };
  }
  if (phase === 'Finishing') return afterFinishing(error.message, setbacks);
  return { is: 'again', afterMs: pauseMs(setbacks.inARow), problem: error.message };
}

/** Everything is compared again after a while; in the last step it counts as a failure, because the tenant paused. */
function afterCompaction(message: string, phase: MigrationPhase, { compacted, tries }: Setbacks): FailurePlan {
  if (compacted + 1 >= mostCompacted) {
    const help =
      'retain the history of the datastores for longer (etcd: --auto-compaction-retention, kine: --compact-interval), or migrate the tenant when it writes less';
    return { is: 'roll back', reason: `${message}, for the ${mostCompacted}th time: ${help}` };
  }
  if (phase === 'Finishing' && tries >= mostTries) {
    return { is: 'roll back', reason: `the last step failed ${mostTries} times: ${message}` };
  }
  const problem = `${message}: everything is compared again`;
  return { is: 'go back', to: 'Copying', afterMs: pauseMs(compacted), problem };
}

function afterFinishing(problem: string, setbacks: Setbacks): FailurePlan {
  if (setbacks.tries >= mostTries) {
    return { is: 'roll back', reason: `the last step failed ${mostTries} times: ${problem}` };
  }
  return { is: 'go back', to: 'Following', afterMs: pauseMs(setbacks.tries), problem };
}

/** A source must not stay fenced, so this is retried without a limit. */
function whileRollingBack(error: unknown, setbacks: Setbacks): FailurePlan {
  if (error instanceof StoreError || error instanceof CompactedError) {
    return { is: 'again', afterMs: pauseMs(setbacks.inARow), problem: error.message };
  }
  return { is: 'throw' };
}

import { StoreError } from '../store-error.ts';
import { CompactedError } from '../tenancy-data.ts';
import type { MigrationPhase } from './migration-journal.ts';

/** Thrown when the stores do not hold the same although they must. */
export class UnequalError extends Error {
  override readonly name = 'UnequalError';
}

/** Thrown when a source stays fenced for longer than is allowed. */
export class FencedTooLongError extends Error {
  override readonly name = 'FencedTooLongError';
}

/** Thrown at the next step after a migration was cancelled. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}

/** Thrown for what the journal threw, which is the cause. */
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
  /** How often what was to be read had been compacted. */
  readonly compacted: number;
}

/** What is done about a failure. */
export type FailurePlan =
  /** The same step once more, after a while. */
  | { readonly is: 'again'; readonly afterMs: number; readonly problem: string }
  /** Another phase; from Finishing with the source given its writes back. */
  | { readonly is: 'go back'; readonly to: 'Copying' | 'Following'; readonly afterMs: number; readonly problem: string }
  | { readonly is: 'roll back'; readonly reason: string }
  /** Not the stores' doing: nothing that is known here helps. */
  | { readonly is: 'throw' };

/** Tries of what no store should refuse, before it is given up. */
const mostInARow = 5;

/** How often the last step may be begun: its failures, and the deaths of its processes, are the tenant's pauses. */
export const mostTries = 3;

/** Comparisons that may find a difference, one less than end it. */
const mostUnequal = 2;

/** Compactions behind a copy that are borne, one less than end it: a store that forgets faster than it is read stays so. */
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
  if (error instanceof CancelledError) return { is: 'roll back', reason: error.message };
  if (error instanceof CompactedError) return afterCompaction(error.message, phase, setbacks);
  if (error instanceof UnequalError) {
    if (setbacks.unequal + 1 >= mostUnequal) return { is: 'roll back', reason: error.message };
    return { is: 'go back', to: 'Copying', afterMs: 0, problem: `${error.message}: everything is compared anew` };
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

/** Everything is compared anew after a while; a last step that failed so counts as any other, for the tenant paused. */
function afterCompaction(message: string, phase: MigrationPhase, { compacted, tries }: Setbacks): FailurePlan {
  if (compacted + 1 >= mostCompacted) {
    const help =
      'let the stores keep what changed for longer (etcd: --auto-compaction-retention, kine: --compact-interval), or move the tenant when less is written';
    return { is: 'roll back', reason: `${message}, for the ${mostCompacted}th time: ${help}` };
  }
  if (phase === 'Finishing' && tries >= mostTries) {
    return { is: 'roll back', reason: `the last step failed ${mostTries} times: ${message}` };
  }
  const problem = `${message}: everything is compared anew`;
  return { is: 'go back', to: 'Copying', afterMs: pauseMs(compacted), problem };
}

function afterFinishing(problem: string, setbacks: Setbacks): FailurePlan {
  if (setbacks.tries >= mostTries) {
    return { is: 'roll back', reason: `the last step failed ${mostTries} times: ${problem}` };
  }
  return { is: 'go back', to: 'Following', afterMs: pauseMs(setbacks.tries), problem };
}

/** A source must not stay fenced: this is tried for as long as it takes. */
function whileRollingBack(error: unknown, setbacks: Setbacks): FailurePlan {
  if (error instanceof StoreError || error instanceof CompactedError) {
    return { is: 'again', afterMs: pauseMs(setbacks.inARow), problem: error.message };
  }
  return { is: 'throw' };
}

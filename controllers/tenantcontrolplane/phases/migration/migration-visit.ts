import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { Context } from '../../../../runtime/controller.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { MigrationFacts, Scope } from '../../scope.ts';

/** One visit of a tenant whose data is on its way. */
export interface MigrationVisit {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

/** What of a visit denies and allows writes. */
export interface FreezeVisit {
  readonly scope: Readonly<Scope>;
  readonly deps: Pick<Dependencies, 'cluster' | 'clock'> & {
    readonly tenants: Pick<Dependencies['tenants'], 'door' | 'atPod'>;
  };
  readonly ctx: Pick<Context, 'signal' | 'event'>;
}

/**
 * What a step leaves behind. A change of phase is recorded before the next phase acts, so that every crash finds in the status
 * what may have been done: steps may be repeated, and none rests on what only a process remembers.
 */
export type Step = MigrationFacts;

/** Longest durations in milliseconds, after which everything is put back as it was. */
export const patience = {
  /** Until the tenant can be switched, unless its annotation says otherwise: as `steward migrate` has it. */
  wholeMs: 60 * 60_000,
  /** Until every API server denies writes. */
  freezingMs: 60_000,
  /** Writes are denied and the last changes are copied. */
  finishingMs: 5 * 60_000,
  /** Writes are denied and pods are replaced. */
  switchingMs: 3 * 60_000,
  /** The process of a migration undoes by itself what it did. */
  undoingMs: 60_000,
} as const;

/** The same record, and what is waited for. */
export function waiting(record: MigrationStatus, message: string, afterMs?: number): Step {
  return { record: { ...record, message }, ...(afterMs !== undefined && { afterMs }) };
}

/** The next phase begins at once, in a visit of its own. */
export function onward(record: MigrationStatus): Step {
  return { record, afterMs: 0 };
}

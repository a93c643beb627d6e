import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { MigrationFacts, Scope } from '../../scope.ts';

/** One reconcile of a tenant whose data is being migrated. */
export interface MigrationStep {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

/** What is needed to deny and to allow writes. */
export interface ReadOnlyStep {
  readonly scope: Readonly<Scope>;
  readonly deps: Pick<Dependencies, 'cluster' | 'clock'> & {
    readonly stores: Pick<Dependencies['stores'], 'capabilities'>;
    readonly tenants: Pick<Dependencies['tenants'], 'client' | 'atPod'>;
  };
  readonly ctx: Pick<Context, 'signal' | 'event'>;
}

/**
 * The result of a step. A change of phase is recorded before the next phase acts, so that after any crash the status shows what
 * may have been done: steps may be repeated, and none depends on the memory of a process.
 */
export type Step = MigrationFacts;

/** Time limits in milliseconds, after which the migration is rolled back. */
export const timeLimits = {
  /** Until the tenant can be switched, unless its annotation sets another limit; the same as in `steward migrate`. */
  wholeMs: 60 * 60_000,
  /** Until every API server denies writes. */
  freezingMs: 60_000,
  /** Until every API server has stopped: more than the grace period of their pods, and than a busy node needs to remove them. */
  stoppingMs: 2 * 60_000,
  /** While writes are denied and the last changes are copied. */
  finishingMs: 5 * 60_000,
  /** While writes are denied and pods are replaced. */
  switchingMs: 3 * 60_000,
  /** For the process of a migration to roll back what it did. */
  undoingMs: 60_000,
} as const;

/** The same record, with what is waited for. */
export function waiting(record: MigrationStatus, message: string, afterMs?: number): Step {
  return { record: { ...record, message }, afterMs };
}

/** The next phase starts at once, in a reconcile of its own. */
export function onward(record: MigrationStatus): Step {
  return { record, afterMs: 0 };
}

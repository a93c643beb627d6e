import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { requestedDataStore } from '../../../../api/steward/v1alpha1/requested-data-store.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { beginMigration, howFar, undoing, way } from './migration-record.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { MigrationFacts, Scope } from '../../scope.ts';
import { copy } from './copying.ts';
import { removeJob } from './job.ts';
import { onward } from './migration-step.ts';
import type { MigrationStep } from './migration-step.ts';
import { lift, revoke, rollBack, rollOut } from './switching.ts';

/**
 * Migrates the data to the DataStore that the spec names. A reconcile acts upon the phase in the status, and records the next
 * phase there for the next reconcile: the datastore in use changes with the status and never within a reconcile.
 */
export async function migration(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const present = scope.tcp.status?.storage?.migration;
  const step: MigrationStep = { scope, deps, ctx };
  if (!isUnderWay(present)) {
    const record = beginMigration(scope.tcp, ctx.now);
    if (record === undefined) {
      await removeLeftover(step);
      return { is: 'done' };
    }
    ctx.event('Normal', 'MigrationStarted', `the data is being migrated ${way(record)}`);
    return { is: 'done', learned: { migration: onward(record) } };
  }
  const facts = await (isTakenBack(scope, present) ? takeBack(step, present) : advance(step, present));
  announce(present, facts.record, ctx);
  return { is: 'done', learned: { migration: facts } };
}

/** Removes a Job whose creation took effect after its migration, when the request had long been given up. The watch reports it. */
async function removeLeftover({ scope, deps, ctx }: MigrationStep): Promise<void> {
  const { tcp } = scope;
  if (deps.seesMigrationJob(tcp.metadata.uid)) await removeJob({ tcp, deps, signal: ctx.signal });
}

/** True when the target is no longer requested while everything can still be rolled back. */
function isTakenBack({ tcp }: Readonly<Scope>, { phase, target }: MigrationStatus): boolean {
  const tooLate = phase === 'ResumingWrites' || phase === 'Revoking' || phase === 'RollingBack';
  return !tooLate && requestedDataStore(tcp) !== target.dataStoreName;
}

function takeBack({ ctx }: MigrationStep, record: MigrationStatus): Promise<MigrationFacts> {
  const message = `DataStore ${record.target.dataStoreName} is no longer requested`;
  return Promise.resolve(onward(undoing(record, ctx.now, { ending: 'Cancelled', message })));
}

function advance(step: MigrationStep, record: MigrationStatus): Promise<MigrationFacts> {
  switch (record.phase) {
    case 'Preparing':
    case 'Copying':
    case 'Following':
    case 'StoppingWrites':
    case 'Finishing':
      return copy(step, record);
    case 'Switching':
      return rollOut(step, record);
    case 'ResumingWrites':
      return lift(step, record);
    case 'Revoking':
      return revoke(step, record);
    case 'RollingBack':
      return rollBack(step, record);
    case 'Succeeded':
    case 'Failed':
    case 'Cancelled':
      return Promise.resolve({ record });
  }
}

/** The quarter of the copy that has been reached; each one is reported. */
function quarter({ keys = 0, remaining }: MigrationStatus): number {
  return remaining === undefined || keys + remaining === 0 ? 0 : Math.floor((4 * keys) / (keys + remaining));
}

/** Reports in an Event that another phase has started, or the progress of a long one. The end is reported where it is reached. */
function announce(before: MigrationStatus, after: MigrationStatus, ctx: Context): void {
  if (!isUnderWay(after)) return;
  if (before.phase === after.phase) {
    if (after.phase === 'Copying' && quarter(before) < quarter(after))
      ctx.event('Normal', 'MigrationProgress', howFar(after));
    return;
  }
  const type = after.phase === 'RollingBack' && after.ending === 'Failed' ? 'Warning' : 'Normal';
  const message = [`${after.phase}: ${way(after)}`, after.message ?? howFar(after)].filter((text) => text !== '');
  ctx.event(type, 'MigrationProgress', message.join('; '));
}

import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { beginMigration, undoing } from '../components/migration-record.ts';
import { howFar, way } from '../components/migration-text.ts';
import type { Dependencies } from '../dependencies.ts';
import type { MigrationFacts, Scope } from '../scope.ts';
import { copy } from './migration/copying.ts';
import { onward } from './migration/migration-visit.ts';
import type { MigrationVisit } from './migration/migration-visit.ts';
import { rollBack } from './migration/rolling-back.ts';
import { lift, revoke, rollOut } from './migration/switching.ts';

/**
 * Moves the data to the DataStore that the spec names by now. What a visit finds in the status decides what it does, and what
 * it leaves there is done by the next one: the store in use changes with the status and never within a visit.
 */
export async function migration(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const present = scope.tcp.status?.storage?.migration;
  const visit: MigrationVisit = { scope, deps, ctx };
  if (!isUnderWay(present)) {
    const record = beginMigration(scope.tcp, ctx.now);
    if (record === undefined) return { is: 'done' };
    ctx.event('Normal', 'MigrationStarted', `the data begins to move ${way(record)}`);
    return { is: 'done', learned: { migration: onward(record) } };
  }
  const facts = await (isTakenBack(scope, present) ? takeBack(visit, present) : step(visit, present));
  announce(present, facts.record, ctx);
  return { is: 'done', learned: { migration: facts } };
}

/** True when the spec names another DataStore than the target while everything can still be undone. */
function isTakenBack({ tcp }: Readonly<Scope>, { phase, target }: MigrationStatus): boolean {
  const tooLate = phase === 'Thawing' || phase === 'Revoking' || phase === 'RollingBack';
  return !tooLate && tcp.spec.dataStore !== target.dataStoreName;
}

function takeBack({ ctx }: MigrationVisit, record: MigrationStatus): Promise<MigrationFacts> {
  const message = `spec.dataStore does not name ${record.target.dataStoreName} any more`;
  return Promise.resolve(onward(undoing(record, ctx.now, { ending: 'Cancelled', message })));
}

function step(visit: MigrationVisit, record: MigrationStatus): Promise<MigrationFacts> {
  switch (record.phase) {
    case 'Preparing':
    case 'Copying':
    case 'Following':
    case 'Freezing':
    case 'Finishing':
      return copy(visit, record);
    case 'Switching':
      return rollOut(visit, record);
    case 'Thawing':
      return lift(visit, record);
    case 'Revoking':
      return revoke(visit, record);
    case 'RollingBack':
      return rollBack(visit, record);
    case 'Succeeded':
    case 'Failed':
    case 'Cancelled':
      return Promise.resolve({ record });
  }
}

/** Each quarter of the copy is told. */
function quarter({ keys = 0, remaining }: MigrationStatus): number {
  return remaining === undefined || keys + remaining === 0 ? 0 : Math.floor((4 * keys) / (keys + remaining));
}

/** Tells in an Event that another phase has begun, or how far a long one is. The end is told where it is reached. */
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

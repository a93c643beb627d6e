import { dataStoreName } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { choiceReasons, noFitMessage } from './choice-words.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';

/** Until the next check whether the cache shows what an earlier process chose, in milliseconds. */
const catchUpMs = 200;

/**
 * Chooses a DataStore when the spec names none. The choice is only recorded here: the next reconcile finds it in the status and
 * acts upon it, so that a crash cannot place a tenant twice. While none fits, there is no requeue: a change of a DataStore
 * enqueues the tenant.
 */
export async function placement(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  if (dataStoreName(tcp, deps.defaultDataStore) !== '') return { is: 'done' };
  const answer = await deps.placements.place(tcp, ctx.signal);
  if (answer.is === 'behind') {
    const message = 'waiting for the cache to catch up with the placement of other tenants';
    return { is: 'waiting', reason: 'PlacementPending', message, afterMs: catchUpMs };
  }
  if (answer.is === 'none') return { is: 'waiting', reason: 'NoDataStoreFits', message: noFitMessage(answer.choice) };
  const { name, score } = answer.fit;
  const reasons = choiceReasons(answer.choice);
  ctx.event('Normal', 'Placed', `DataStore ${name} was chosen: ${reasons.join('; ')}`);
  const time = ctx.now.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return { is: 'done', learned: { placement: { dataStoreName: name, score: Math.round(score), reasons, time } } };
}

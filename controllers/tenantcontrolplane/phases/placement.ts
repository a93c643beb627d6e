import { dataStoreName } from '../../../api/steward/v1alpha1/data-stores-of.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { choiceReasons, noFitMessage } from '../components/placement/choice-words.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** Until the cache is asked again whether it knows what an earlier process chose, in milliseconds. */
const catchUpMs = 200;

/**
 * Chooses a DataStore when the spec names none. The choice is only learned here: it is acted upon by the next visit, which
 * finds it in the status, so that a crash can not have a tenant placed twice. Nobody asks again while none fits: a change of a
 * DataStore does.
 */
export async function placement(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  if (dataStoreName(tcp, deps.defaultDataStore) !== '') return { is: 'done' };
  const answer = await deps.placements.place(tcp, ctx.signal);
  if (answer.is === 'behind') {
    const message = 'waits until the cache knows what was chosen for other tenants';
    return { is: 'waiting', reason: 'Placing', message, afterMs: catchUpMs };
  }
  if (answer.is === 'none') return { is: 'waiting', reason: 'NoDataStoreFits', message: noFitMessage(answer.choice) };
  const { name, score } = answer.fit;
  const reasons = choiceReasons(answer.choice);
  ctx.event('Normal', 'Placed', `DataStore ${name} was chosen: ${reasons.join('; ')}`);
  const time = ctx.now.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return { is: 'done', learned: { placement: { dataStoreName: name, score: Math.round(score), reasons, time } } };
}

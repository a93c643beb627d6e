import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Observed, Scope } from '../../scope.ts';
import { holdOf } from './hold.ts';
import { readRollout } from './read-rollout.ts';
import type { SeenRollout } from './read-rollout.ts';
import { hashLabel } from './rollout-facts.ts';
import type { RolloutFacts } from './rollout-facts.ts';
import { rolloutStep } from './rollout-step.ts';
import type { RolloutStep } from './rollout-step.ts';

/** A rollout under way, and what this reconcile does about it. */
export interface Rollout extends SeenRollout {
  readonly step: RolloutStep;
}

const fact = 'switched to new pods';

/**
 * For how many milliseconds the Service has led to the newest pods. The first look after the switch begins to count: a new process may
 * wait a little longer than necessary.
 */
function switchedForMs(uid: string, { newest, selected }: RolloutFacts, deps: Dependencies): number | undefined {
  if (newest === undefined || selected !== newest) return undefined;
  const now = deps.clock.monotonic();
  const [hash, at] = (deps.memory.recall(uid, fact) ?? '').split(' ');
  if (hash === newest) return now - Number(at);
  deps.memory.remember(uid, fact, `${newest} ${now}`);
  return 0;
}

/** Finds a rollout under way: its Deployment keeps old pods, or its Service does not lead to all of them. */
export async function findRollout(
  { tcp, observed }: Pick<Scope, 'tcp'> & { readonly observed: Pick<Observed, 'deployment' | 'service'> },
  deps: Dependencies,
  ctx: Pick<Context, 'signal' | 'now'>,
): Promise<Rollout | undefined> {
  const { deployment, service } = observed;
  const hold = holdOf(deployment);
  const isNarrowed = service?.spec?.selector?.[hashLabel] !== undefined;
  if (deployment === undefined || (hold === undefined && !isNarrowed)) return undefined;
  const seen = await readRollout({ tcp, deployment, service }, deps, ctx);
  const step = rolloutStep({
    facts: seen.facts,
    heldForMs: hold === undefined ? undefined : ctx.now.getTime() - hold.began.getTime(),
    switchedForMs: switchedForMs(tcp.metadata.uid, seen.facts, deps),
  });
  return { ...seen, step };
}

import type { Deployment, Service } from '../../../../api/core/kinds.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Observed, Scope } from '../../scope.ts';
import { holdOf } from './hold.ts';
import { readRollout } from './read-rollout.ts';
import type { SeenRollout } from './read-rollout.ts';
import { hashLabel } from './rollout-facts.ts';
import { rolloutStep } from './rollout-step.ts';
import type { RolloutStep } from './rollout-step.ts';

/** A rollout under way, and what this reconcile does about it. */
export interface Rollout extends SeenRollout {
  readonly step: RolloutStep;
}

/**
 * How many milliseconds ago something was first so in a rollout; undefined while it is not so. The first check begins to count: a
 * new process may wait a little longer than necessary. An intermittent state, such as errors between two attempts, counts from its first time.
 */
function lastsForMs(
  uid: string,
  { fact, isSo, rollout }: { readonly fact: string; readonly isSo: boolean; readonly rollout: string | undefined },
  deps: Dependencies,
): number | undefined {
  if (rollout === undefined || !isSo) return undefined;
  const now = deps.clock.monotonic();
  const [of, at] = (deps.memory.recall(uid, fact) ?? '').split(' ');
  if (of === rollout) return now - Number(at);
  deps.memory.remember(uid, fact, `${rollout} ${now}`);
  return 0;
}

/** True while a Deployment keeps old pods, or its Service does not lead to all of them. */
export function isRollingOut(service: Service | undefined, deployment: Deployment): boolean {
  return holdOf(deployment) !== undefined || service?.spec?.selector?.[hashLabel] !== undefined;
}

/** Finds a rollout under way: its Deployment keeps old pods, or its Service does not lead to all of them. */
export async function findRollout(
  { tcp, observed }: Pick<Scope, 'tcp'> & { readonly observed: Pick<Observed, 'deployment' | 'service'> },
  deps: Dependencies,
  ctx: Pick<Context, 'signal' | 'now'>,
): Promise<Rollout | undefined> {
  const { deployment, service } = observed;
  if (deployment === undefined || !isRollingOut(service, deployment)) return undefined;
  const hold = holdOf(deployment);
  const seen = await readRollout({ tcp, deployment, service }, deps, ctx);
  const { facts } = seen;
  const { newest, selected, pods } = facts;
  const { uid } = tcp.metadata;
  const rollout = newest === undefined ? undefined : `${newest}@${hold?.began.toISOString() ?? ''}`;
  const isBroken = pods.some(({ hash, broken }) => hash === newest && broken !== undefined);
  const step = rolloutStep({
    facts,
    heldForMs: hold === undefined ? undefined : ctx.now.getTime() - hold.began.getTime(),
    brokenForMs: lastsForMs(uid, { fact: 'new pods report an error', isSo: isBroken, rollout }, deps),
    switchedForMs: lastsForMs(uid, { fact: 'switched to new pods', isSo: selected === newest, rollout }, deps),
  });
  return { ...seen, step };
}

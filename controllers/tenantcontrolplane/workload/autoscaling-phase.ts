import { kinds } from '../../../api/core/kinds.ts';
import type { HorizontalPodAutoscaler } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { autoscalerComponent, foreignAutoscalers, horizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';

/** Autoscalers of others are not watched. In milliseconds. */
const lookAgainMs = 60_000;

/** Lets an autoscaler decide how many pods run, unless one of others already does. */
export async function autoscaling(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { namespace, name } = scope.tcp.metadata;
  const wanted = horizontalPodAutoscaler(scope.tcp);
  const others =
    wanted.length === 0
      ? []
      : foreignAutoscalers(scope.tcp, await deps.recentLists(kinds.HorizontalPodAutoscaler, namespace));
  const manifests = others.length === 0 ? wanted : [];
  await deps.applySet(
    scope,
    { component: autoscalerComponent, manifests, prunes: [kinds.HorizontalPodAutoscaler] },
    ctx,
  );
  if (wanted.length === 0) return { is: 'done' };
  const key = { namespace, name: tenantObjects(name).horizontalPodAutoscaler };
  const seen = deps.cached(kinds.HorizontalPodAutoscaler, key) as HorizontalPodAutoscaler | undefined;
  const active = seen?.status?.conditions?.find(({ type }) => type === 'ScalingActive');
  const learned = { autoscaler: { others, active } };
  return others.length === 0 ? { is: 'done', learned } : { is: 'done', learned, afterMs: lookAgainMs };
}

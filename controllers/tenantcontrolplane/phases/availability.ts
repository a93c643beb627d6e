import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment, Pod } from '../../../api/core/kinds.ts';
import type { Context } from '../../../runtime/controller.ts';
import { deadline } from '../../../runtime/deadline.ts';
import { ApiError, UnreachableError } from '../../../runtime/errors.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { podSelectorText } from '../status.ts';

/** Pods that are not ready after this many milliseconds are looked at more closely. */
const patienceMs = 20_000;

/**
 * Between the readiness of a pod and its address in every kube-proxy, and for one that answered before. The runtime puts off who
 * goes on asking.
 */
const pace = { firstMs: 25, laterMs: 1_000 } as const;
const answerMs = 5_000;

function refusal(deployment: Deployment): string | undefined {
  const failure = deployment.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  return failure?.message;
}

/** What the containers of pods that are not ready say, at most one line each. */
function complaints(pods: readonly Pod[]): string {
  const lines = pods.flatMap((pod) => {
    const unscheduled = pod.status?.conditions?.find(
      ({ type, status }) => type === 'PodScheduled' && status === 'False',
    );
    if (unscheduled !== undefined)
      return [`pod ${pod.metadata.name ?? ''}: ${unscheduled.message ?? 'is not scheduled'}`];
    // A sidecar, such as kine, is an init container that goes on.
    return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
      .filter(({ ready }) => !ready)
      .map(({ name, state, lastState, restartCount }) => {
        const waiting = state?.waiting ?? lastState?.terminated;
        const why = [waiting?.reason, waiting?.message].filter((part) => part !== undefined).join(': ');
        const restarts = restartCount > 0 ? `, restarted ${restartCount} times` : '';
        return `container ${name} of pod ${pod.metadata.name ?? ''}: ${why === '' ? 'not ready' : why}${restarts}`;
      });
  });
  return [...new Set(lines)].slice(0, 6).join('; ');
}

/** Why no pod is ready: a short word at first, what the pods report when it takes longer. */
async function notReady(
  scope: Readonly<Scope>,
  deployment: Deployment,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const reason = 'PodsNotReady';
  const refused = refusal(deployment);
  if (refused !== undefined) return { is: 'waiting', reason: 'PodsRefused', message: refused };
  const age = ctx.now.getTime() - Date.parse(deployment.metadata.creationTimestamp ?? ctx.now.toISOString());
  if (age < patienceMs) return { is: 'waiting', reason, message: 'the pods are starting', afterMs: patienceMs - age };
  const namespace = scope.tcp.metadata.namespace ?? '';
  const labelSelector = podSelectorText(scope.tcp);
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal: ctx.signal });
  const said = complaints(items);
  const message = said === '' ? `no pod is ready, of ${items.length}` : said;
  return { is: 'waiting', reason, message, afterMs: 30_000 };
}

interface Silence {
  readonly why: string;
  readonly error: unknown;
}

/** Why the operator gets no good answer; undefined when it gets one. */
async function silence(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Silence | undefined> {
  const limit = deadline(deps.clock, answerMs, [ctx.signal]);
  try {
    // Not /readyz: that of a pod that is on its way out says no, while it still answers.
    await deps.tenants.door(scope).text('/livez', { signal: limit.signal });
    return undefined;
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (limit.signal.aborted) return { why: `no answer within ${answerMs / 1000} s`, error };
    if (error instanceof UnreachableError) return { why: error.message, error };
    if (error instanceof ApiError && error.code >= 500) return { why: `it answers ${error.code}`, error };
    throw error;
  } finally {
    limit.release();
  }
}

/** Waits until a pod serves, which the Deployment's status tells, and then until the operator itself is answered. */
export async function availability(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const deployment = needed(scope.deployment, 'deployment');
  if (scope.tcp.spec.controlPlane.deployment.replicas === 0) {
    return { is: 'waiting', reason: 'Sleeping', message: 'spec.controlPlane.deployment.replicas is 0' };
  }
  if ((deployment.status?.readyReplicas ?? 0) === 0) return notReady(scope, deployment, deps, ctx);
  const silent = await silence(scope, deps, ctx);
  if (silent === undefined) return { is: 'done' };
  const { why, error } = silent;
  const message = `a pod is ready but the API server does not answer the operator through its Service: ${why}`;
  const starts = scope.tcp.status?.kubernetesResources?.version?.version === undefined;
  const afterMs = starts ? pace.firstMs : pace.laterMs;
  return { is: 'waiting', reason: 'PodsNotReady', message, afterMs, elsewhere: error };
}

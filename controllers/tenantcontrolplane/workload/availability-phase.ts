import { timesText } from '../../../api/counted.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment, Pod } from '../../../api/core/kinds.ts';
import { isAsleep, whyAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { mayNotServe } from '../../../api/steward/v1alpha1/stopped-servers.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { deadline } from '../../../runtime/deadline.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { holdOf } from './rollout/hold.ts';
import { podSelectorText } from '../shared/pod-selector.ts';

/** Pods that are not ready after this many milliseconds are inspected more closely. */
const patienceMs = 20_000;

/**
 * How soon to check again, in milliseconds: between the readiness of the first pod and its address in every kube-proxy, and for a
 * server that answered before. The runtime backs off if this repeats.
 */
const pace = { firstMs: 25, laterMs: 1_000 } as const;
/** Timeouts in milliseconds: a serving API server may be slow for a while; one that starts is checked again soon. */
const answerMs = { first: 1_000, later: 5_000 } as const;

function refusal(deployment: Deployment): string | undefined {
  const failure = deployment.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  return failure?.message;
}

/** The problems of containers that are not ready, at most one line each. */
function podTroubles(pods: readonly Pod[]): string {
  const lines = pods.flatMap((pod) => {
    const unscheduled = pod.status?.conditions?.find(
      ({ type, status }) => type === 'PodScheduled' && status === 'False',
    );
    if (unscheduled !== undefined) return [`pod ${pod.metadata.name}: ${unscheduled.message ?? 'is not scheduled'}`];
    // A sidecar, such as kine, is a restartable init container.
    return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
      .filter(({ ready }) => !ready)
      .map(({ name, state, lastState, restartCount }) => {
        const waiting = state?.waiting ?? lastState?.terminated;
        const why = [waiting?.reason, waiting?.message].filter((part) => part !== undefined).join(': ');
        const restarts = restartCount > 0 ? `, restarted ${timesText(restartCount)}` : '';
        return `container ${name} of pod ${pod.metadata.name}: ${why === '' ? 'not ready' : why}${restarts}`;
      });
  });
  return [...new Set(lines)].slice(0, 6).join('; ');
}

/** Why no pod is ready: a short text at first, the pods' own messages when it takes longer. */
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
  const namespace = scope.tcp.metadata.namespace;
  const labelSelector = podSelectorText(scope.tcp);
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal: ctx.signal });
  const troubles = podTroubles(items);
  const none =
    items.length === 0
      ? `Deployment ${deployment.metadata.name} has no pods yet: see its Events`
      : `none of the pods is ready (${items.length} in total)`;
  const message = troubles === '' ? none : troubles;
  return { is: 'waiting', reason, message, afterMs: 30_000 };
}

interface Silence {
  readonly why: string;
  readonly error: unknown;
}

/** True until the API server has served for the first time. */
const starts = ({ versions }: Readonly<Scope>): boolean => versions.installed === undefined;

/** Why the manager gets no usable answer; undefined when it gets one. */
async function silence(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Silence | undefined> {
  const withinMs = starts(scope) ? answerMs.first : answerMs.later;
  const limit = deadline(deps.clock, withinMs, [ctx.signal]);
  try {
    // Not /readyz: a terminating pod fails it while it still serves.
    await deps.tenants.client(scope).text('/livez', { signal: limit.signal });
    return undefined;
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (limit.signal.aborted) return { why: `no answer within ${withinMs / 1000} s`, error };
    if (error instanceof UnreachableError) return { why: error.message, error };
    if (error instanceof ApiError && error.code >= 500) return { why: `HTTP status ${error.code}`, error };
    throw error;
  } finally {
    limit.release();
  }
}

/** Waits until a pod is ready, as the Deployment's status shows, and then until the API server answers the manager itself. */
export async function availability(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const deployment = needed(scope.deployment, 'deployment');
  if (isAsleep(scope.tcp)) return { is: 'waiting', reason: 'Sleeping', message: whyAsleep(scope.tcp) };
  if (mayNotServe(scope.tcp)) {
    const message =
      'the API servers are stopped while the data is migrated; the condition Migrating shows the progress';
    return { is: 'waiting', reason: 'StoppedForMigration', message };
  }
  if ((deployment.status?.readyReplicas ?? 0) === 0) return notReady(scope, deployment, deps, ctx);
  if (holdOf(deployment) === undefined) deps.startEnded(scope.tcp.metadata.uid);
  const silent = await silence(scope, deps, ctx);
  if (silent === undefined) return { is: 'done' };
  const { why, error } = silent;
  const message = `a pod is ready, but the manager gets no usable answer from the API server through its Service: ${why}`;
  const afterMs = starts(scope) ? pace.firstMs : pace.laterMs;
  return { is: 'waiting', reason: 'PodsNotReady', message, afterMs, elsewhere: error };
}

import { kinds } from '../../../../api/core/kinds.ts';
import type { Pod } from '../../../../api/core/kinds.ts';
import { componentChecksumLabel } from '../../../../api/names.ts';
import type { TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { dataStoreLabel } from '../../shared/data-store-label.ts';
import { wantedReplicas } from '../../shared/replicas.ts';
import { isRolling } from '../../shared/state.ts';
import { podSelectorText } from '../../shared/pod-selector.ts';
import type { MigrationStep, ReadOnlyStep } from './migration-step.ts';

/** The progress of replacing a tenant's pods by pods that use a datastore. */
export interface Rollout {
  /** True when all wanted pods use the datastore and serve. */
  readonly serves: boolean;
  /** True when at least one of them does, or none is wanted. */
  readonly answers: boolean;
  /** Pods that use the datastore and are not terminating. */
  readonly current: readonly Pod[];
  /** Pods that use another datastore, or are terminating. */
  readonly leaving: readonly Pod[];
  /** Those of them that use another datastore. */
  readonly elsewhere: readonly Pod[];
}

const label = componentChecksumLabel('datastore');

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}

/** The pods of the tenant that have not ended. */
export async function podsOf({ scope, deps, ctx }: ReadOnlyStep): Promise<readonly Pod[]> {
  const namespace = scope.tcp.metadata.namespace;
  const labelSelector = podSelectorText(scope.tcp);
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal: ctx.signal });
  return items.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}

/** Which pods use the tenancy, and whether they are all that are wanted. */
export async function rolloutTo(share: TenancyShare, step: MigrationStep): Promise<Rollout> {
  const { tcp, observed } = step.scope;
  const replicas = wantedReplicas(tcp, observed.deployment);
  const value = dataStoreLabel(share.dataStoreName);
  const pods = await podsOf(step);
  const uses = ({ metadata }: Pod): boolean => metadata.labels?.[label] === value;
  const stays = (pod: Pod): boolean => uses(pod) && pod.metadata.deletionTimestamp === undefined;
  const wanted = observed.deployment?.spec?.template.metadata?.labels?.[label] === value;
  const current = pods.filter(stays);
  return {
    serves: wanted && (replicas === 0 || !isRolling(observed.deployment, replicas)),
    answers: wanted && (replicas === 0 || current.some(isReady)),
    current,
    leaving: pods.filter((pod) => !stays(pod)),
    elsewhere: pods.filter((pod) => !uses(pod)),
  };
}

/**
 * What is waited for until no API server of the tenant runs anymore; undefined when none does. A pod on a node that does not report
 * counts: its API server may still run, and answer reads from the old datastore after the migration.
 */
export async function serversLeft(step: ReadOnlyStep): Promise<string | undefined> {
  const { deployment } = step.scope.observed;
  const pods = await podsOf(step);
  if (pods.length > 0) return `pods are stopping: ${podNames(pods)}`;
  // Until its controller has seen that no pod is wanted, it may still create some.
  const isSeen =
    deployment?.spec?.replicas === 0 && deployment.metadata.generation === deployment.status?.observedGeneration;
  return isSeen ? undefined : 'the Deployment is being scaled to 0';
}

/** A pod that has not ended so long after its grace period, in milliseconds, will not end by itself. */
const overdueMs = 30_000;

/** Names the pods that should have ended long ago, as on a node that is lost; empty when there are none. */
export async function overduePods(step: ReadOnlyStep, now: Date): Promise<string> {
  const pods = await podsOf(step);
  // The time in the metadata is the end of the grace period.
  const isOverdue = ({ metadata }: Pod): boolean =>
    metadata.deletionTimestamp !== undefined && now.getTime() - Date.parse(metadata.deletionTimestamp) > overdueMs;
  return podNames(pods.filter(isOverdue));
}

function podNames(pods: readonly Pod[]): string {
  const text = ({ metadata, spec }: Pod): string =>
    spec?.nodeName === undefined ? metadata.name : `${metadata.name} on node ${spec.nodeName}`;
  return pods.map(text).join(', ');
}

/** What keeps pods from running or serving, as reported by the scheduler and their containers; at most four lines. */
export function podTroubles(pods: readonly Pod[]): string {
  const lines = pods.flatMap(({ metadata, status }) => {
    const name = metadata.name;
    const unscheduled = status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
    if (unscheduled !== undefined) return [`pod ${name}: ${unscheduled.message ?? 'is not scheduled'}`];
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    return containers.flatMap(({ name: container, ready, state }) => {
      const { reason = '', message = '' } = state?.waiting ?? state?.terminated ?? {};
      return ready || reason === '' ? [] : [`container ${container} of pod ${name}: ${reason} ${message}`.trim()];
    });
  });
  return [...new Set(lines)].slice(0, 4).join('; ');
}

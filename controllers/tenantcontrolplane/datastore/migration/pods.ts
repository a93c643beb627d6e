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
  const stays = ({ metadata }: Pod): boolean =>
    metadata.labels?.[label] === value && metadata.deletionTimestamp === undefined;
  const wanted = observed.deployment?.spec?.template.metadata?.labels?.[label] === value;
  const current = pods.filter(stays);
  return {
    serves: wanted && (replicas === 0 || !isRolling(observed.deployment, replicas)),
    answers: wanted && (replicas === 0 || current.some(isReady)),
    current,
    leaving: pods.filter((pod) => !stays(pod)),
  };
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

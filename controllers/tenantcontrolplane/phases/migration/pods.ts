import { kinds } from '../../../../api/core/kinds.ts';
import type { Pod } from '../../../../api/core/kinds.ts';
import { componentChecksumLabel } from '../../../../api/names.ts';
import type { TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { dataStoreLabel } from '../../components/deployment.ts';
import { isRolling } from '../../state.ts';
import { podSelectorText } from '../../status.ts';
import type { FreezeVisit, MigrationVisit } from './migration-visit.ts';

/** How far the pods of a tenant have moved to a store. */
export interface Rollout {
  /** Every pod that is wanted serves from the store. */
  readonly serves: boolean;
  /** One at least does, or none is wanted. */
  readonly answers: boolean;
  /** Pods that use the store and are to stay. */
  readonly current: readonly Pod[];
  /** Pods that use another store, or are on their way out. */
  readonly leaving: readonly Pod[];
}

const label = componentChecksumLabel('datastore');

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}

/** The pods of the tenant that have not ended. */
export async function podsOf({ scope, deps, ctx }: FreezeVisit): Promise<readonly Pod[]> {
  const namespace = scope.tcp.metadata.namespace ?? '';
  const labelSelector = podSelectorText(scope.tcp);
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal: ctx.signal });
  return items.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}

/** Which pods use the share, and whether they are all that is wanted. */
export async function rolloutTo(share: TenancyShare, visit: MigrationVisit): Promise<Rollout> {
  const { tcp, observed } = visit.scope;
  const { replicas } = tcp.spec.controlPlane.deployment;
  const value = dataStoreLabel(share.dataStoreName);
  const pods = await podsOf(visit);
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

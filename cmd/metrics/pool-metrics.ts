import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ObjectMetric } from '../../runtime/observe/object-metrics.ts';
import { sample } from './sample.ts';

/** A pool with the claims that wait for it. */
export interface MeasuredPool {
  readonly namespace: string;
  /** Empty for the claims of a namespace whose pools do not exist. */
  readonly name: string;
  readonly pool?: ControlPlanePool;
  /** How many claims wait, by reason. */
  readonly waiting: ReadonlyMap<string, number>;
}

/** Reasons of Ready for which no control plane is prepared, or none that works. */
const blocking: readonly string[] = ['CreationRefused', 'NotBecomingReady', 'InvalidSpec'];

/** What is measured of a ControlPlanePool. */
export const poolMetrics: readonly ObjectMetric<MeasuredPool>[] = [
  {
    name: 'steward_pool_wanted',
    help: 'Control planes that the pool wants in reserve, by the recent demand',
    labels: [],
    samples: ({ pool }) => sample(pool?.status?.wanted),
  },
  {
    name: 'steward_pool_control_planes',
    help: 'Control planes of the pool: ready to be claimed, being prepared, and claimed ones that exist',
    labels: ['state'],
    samples: ({ pool }) => {
      const { ready, preparing, claimed } = pool?.status ?? {};
      return [
        ...sample(ready, { state: 'ready' }),
        ...sample(preparing, { state: 'preparing' }),
        ...sample(claimed, { state: 'claimed' }),
      ];
    },
  },
  {
    name: 'steward_pool_created_total',
    help: 'Control planes that the pool has created, at first and to refill it',
    type: 'counter',
    labels: [],
    samples: ({ pool }) => sample(pool?.status?.created),
  },
  {
    name: 'steward_pool_refill_blocked',
    help: `1 while the pool cannot be refilled, with the reason of its condition Ready: ${blocking.join(', ')}; absent otherwise`,
    labels: ['reason'],
    samples: ({ pool }) => {
      const ready = pool?.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready !== undefined && blocking.includes(ready.reason) ? sample(1, { reason: ready.reason }) : [];
    },
  },
  {
    name: 'steward_pool_claims_waiting',
    help: 'Claims that wait, with the reason of their condition Bound, or New before the first; those whose pool does not exist have an empty `name`',
    labels: ['reason'],
    samples: ({ waiting }) => [...waiting].map(([reason, value]) => ({ value, labels: { reason } })),
  },
];

/**
 * The pools with the claims that wait for them, and one entry for the other claims of each namespace: authors of claims may name any number of
 * pools that do not exist, and each would be a series.
 */
export function measuredPools(
  pools: readonly ControlPlanePool[],
  claims: readonly ControlPlaneClaim[],
): readonly MeasuredPool[] {
  const standing = pools.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const found = new Map(standing.map((pool) => [keyOf(pool.metadata), pool]));
  const waiting = Map.groupBy(claims.filter(isWaiting), ({ metadata: { namespace }, spec }) => {
    const key = keyOf({ namespace, name: spec.pool });
    return found.has(key) ? key : keyOf({ namespace, name: '' });
  });
  const others = [...waiting.keys()].filter((key) => !found.has(key));
  return [...found.keys(), ...others].map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    const pool = found.get(key);
    return { namespace, name, ...(pool && { pool }), waiting: byReason(waiting.get(key) ?? []) };
  });
}

const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

const boundOf = ({ status }: ControlPlaneClaim): { readonly status: string; readonly reason: string } | undefined =>
  status?.conditions?.find(({ type }) => type === 'Bound');

/** A claim whose control plane is gone waits for nothing: it never gets another one. */
function isWaiting(claim: ControlPlaneClaim): boolean {
  const { status, reason } = boundOf(claim) ?? {};
  return claim.metadata.deletionTimestamp === undefined && status !== 'True' && reason !== 'ControlPlaneGone';
}

function byReason(claims: readonly ControlPlaneClaim[]): ReadonlyMap<string, number> {
  const groups = Map.groupBy(claims, (claim) => boundOf(claim)?.reason ?? 'New');
  return new Map([...groups].map(([reason, { length }]) => [reason, length]));
}

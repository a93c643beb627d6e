import { stateCondition } from '../../api/conditions.ts';
import type { StatedCondition } from '../../api/conditions.ts';
import type { ControlPlanePool, ControlPlanePoolStatus } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { setConditions } from '../../runtime/reconcile/conditions.ts';
import type { Prepared, Replacements } from './plan.ts';

/** What a reconcile of a pool has found and done. */
export interface PoolFacts {
  readonly templateHash: string;
  readonly wanted: number;
  readonly prepared: readonly Prepared[];
  readonly claimed: number;
  /** How many control planes this reconcile has created. */
  readonly created: number;
  readonly recent: NonNullable<ControlPlanePoolStatus['recentClaims']>;
  readonly replaced: Replacements;
  /** Names of those that have not been Ready for long. */
  readonly stalled: readonly string[];
  /** Why the API server refused another control plane. */
  readonly refusal: string | undefined;
}

/** The replacements so far; none if a control plane of the current template has become Ready since the last one. */
export function replacementsOf({ status }: ControlPlanePool, prepared: readonly Prepared[]): Replacements {
  const { count, time } = status?.replacements ?? { count: 0, time: '' };
  const last = count === 0 ? 0 : Date.parse(time);
  const works = prepared.some(({ current, ready, since }) => current && ready && since >= last);
  return count === 0 || works ? { count: 0, last: 0 } : { count, last };
}

/** The whole status after a reconcile. */
export function poolStatus(pool: ControlPlanePool, facts: PoolFacts, now: Date): ControlPlanePoolStatus {
  const current = facts.prepared.filter((one) => one.current);
  const ready = current.filter((one) => one.ready).length;
  const { count, last } = facts.replaced;
  return {
    ...withCondition(pool, readiness(facts, ready), now),
    templateHash: facts.templateHash,
    wanted: facts.wanted,
    ready,
    preparing: current.length - ready,
    claimed: facts.claimed,
    created: (pool.status?.created ?? 0) + facts.created,
    ...(facts.recent.length > 0 && { recentClaims: facts.recent }),
    ...(count > 0 && { replacements: { count, time: new Date(last).toISOString() } }),
  };
}

/** The status of a pool whose spec cannot be used. */
export function invalidStatus(pool: ControlPlanePool, message: string, now: Date): ControlPlanePoolStatus {
  const ready = stateCondition('ControlPlanePool', { type: 'Ready', status: 'False', reason: 'InvalidSpec', message });
  return { ...pool.status, ...withCondition(pool, ready, now) };
}

/** The status of a pool that waits for its control planes to be gone. */
export function deletingStatus(pool: ControlPlanePool, names: readonly string[], now: Date): ControlPlanePoolStatus {
  const message = `waiting for control planes to be deleted: ${names.join(', ')}`;
  const reason = 'RemovingControlPlanes';
  const deleting = stateCondition('ControlPlanePool', { type: 'Deleting', status: 'True', reason, message });
  return { ...pool.status, ...withCondition(pool, deleting, now) };
}

function readiness({ wanted, stalled, refusal }: PoolFacts, ready: number): StatedCondition {
  const state = (
    status: 'True' | 'False',
    reason: 'Ready' | 'Preparing' | 'CreationRefused' | 'NotBecomingReady',
    message: string,
  ): StatedCondition => stateCondition('ControlPlanePool', { type: 'Ready', status, reason, message });
  const count = `${ready} of ${wanted} control planes can be claimed`;
  if (ready >= wanted) return state('True', 'Ready', count);
  if (refusal !== undefined) return state('False', 'CreationRefused', `${count}; ${refusal}`);
  if (stalled.length > 0) return state('False', 'NotBecomingReady', `${count}; not Ready: ${stalled.join(', ')}`);
  return state('False', 'Preparing', count);
}

function withCondition(
  { metadata, status }: ControlPlanePool,
  condition: StatedCondition,
  now: Date,
): Pick<ControlPlanePoolStatus, 'observedGeneration' | 'conditions'> {
  const at = { generation: metadata.generation, now };
  return {
    observedGeneration: at.generation,
    conditions: setConditions(status?.conditions ?? [], [condition], at),
  };
}

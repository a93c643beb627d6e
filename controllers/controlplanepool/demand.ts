import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { mostReady } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool, RecentClaim } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';

/** For how long a claim counts as demand, in milliseconds. */
export const demandMs = 15 * 60 * 1000;

/** The claims of a pool. */
export function claimsOf(
  { metadata: { namespace, name } }: ControlPlanePool,
  claims: readonly ControlPlaneClaim[],
): readonly ControlPlaneClaim[] {
  return claims.filter(({ metadata, spec }) => metadata.namespace === namespace && spec.pool === name);
}

/**
 * The claims that a pool has served in the last minutes, oldest first: those that exist, and those that are on record and may be deleted
 * by now.
 */
export function recentClaims(
  known: readonly RecentClaim[],
  claims: readonly ControlPlaneClaim[],
  now: Date,
): readonly RecentClaim[] {
  const found = new Map(known.map((one) => [one.uid, one]));
  for (const { metadata, status } of claims) {
    if (status?.boundTime !== undefined) found.set(metadata.uid, { uid: metadata.uid, time: status.boundTime });
  }
  return [...found.values()]
    .filter(({ time }) => Date.parse(time) > now.getTime() - demandMs)
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time) || (a.uid < b.uid ? -1 : 1))
    .slice(-mostReady);
}

/** A claim that waits for a control plane. */
export function isWaiting({ metadata, status }: ControlPlaneClaim): boolean {
  return metadata.deletionTimestamp === undefined && status?.tenantControlPlane === undefined;
}

/** What the demand for control planes is. */
export interface Demand {
  readonly recent: readonly RecentClaim[];
  /** How many claims wait. */
  readonly waiting: number;
}

/** How many control planes a pool should hold in reserve: as many as were claimed recently or are waited for, within its bounds. */
export function wantedReady(
  { minReady, maxReady = minReady }: Pick<ControlPlanePool['spec'], 'minReady' | 'maxReady'>,
  { recent, waiting }: Demand,
): number {
  return Math.min(Math.max(recent.length + waiting, minReady), Math.max(maxReady, minReady));
}

/** Milliseconds until the demand falls by itself; undefined if it does not. */
export function demandFallsMs(recent: readonly RecentClaim[], now: Date): number | undefined {
  const [oldest] = recent;
  return oldest === undefined ? undefined : Math.max(Date.parse(oldest.time) + demandMs - now.getTime(), 1000);
}

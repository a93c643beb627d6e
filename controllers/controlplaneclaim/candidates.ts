import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { isClaimable } from '../../api/steward/v1alpha1/pool/prepared.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

/** The pool that a claim names; undefined if there is none, or if it is being deleted. */
export function poolOf(
  { metadata, spec }: ControlPlaneClaim,
  pools: readonly ControlPlanePool[],
): ControlPlanePool | undefined {
  return pools.find(
    (pool) =>
      pool.metadata.namespace === metadata.namespace &&
      pool.metadata.name === spec.pool &&
      pool.metadata.deletionTimestamp === undefined,
  );
}

/** The control planes that a claim may take, oldest first. */
export function candidates(
  pool: ControlPlanePool,
  tenants: readonly TenantControlPlane[],
): readonly TenantControlPlane[] {
  return tenants.filter((tcp) => isClaimable(tcp, pool)).sort(byAge);
}

/** The oldest first. */
export function byAge({ metadata: a }: TenantControlPlane, { metadata: b }: TenantControlPlane): number {
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (first !== second) return first < second ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

import { stewardGroup } from '../../api/names.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';

/** A right in the sense of RBAC. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name?: string;
}

/**
 * The rights of which an author of a claim needs one: to claim from this pool, or to create control planes, so that nobody gets by a claim
 * what is not theirs.
 */
export function rightsToClaim({ metadata: { namespace }, spec }: ControlPlaneClaim): readonly Right[] {
  const group = stewardGroup;
  return [
    { verb: 'claim', group, resource: controlPlanePool.plural, namespace, name: spec.pool },
    { verb: 'create', group, resource: tenantControlPlane.plural, namespace },
  ];
}

/** Why a claim of an author without these rights is refused. */
export function refusedClaim({ metadata, spec }: ControlPlaneClaim, username: string): InvalidInput {
  const { namespace } = metadata;
  return {
    field: 'spec.pool',
    value: spec.pool,
    reason: `is a pool from which ${username} may not claim`,
    remedy: `grant the verb claim on the resource ${controlPlanePool.plural} with this name in namespace ${namespace}, or the verb create on ${tenantControlPlane.plural} there`,
  };
}

/** What the author of an admitted claim should know. */
export function warningsAbout({ spec }: ControlPlaneClaim, pool: ControlPlanePool | undefined): readonly string[] {
  if (pool?.metadata.deletionTimestamp !== undefined) return [`ControlPlanePool ${spec.pool} is being deleted`];
  return pool === undefined ? [`ControlPlanePool ${spec.pool} does not exist in this namespace: the claim waits`] : [];
}

import { stateCondition } from '../../api/conditions.ts';
import type { ReasonOf, StatedCondition } from '../../api/conditions.ts';
import type {
  ControlPlaneClaim,
  ControlPlaneClaimStatus,
} from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setConditions } from '../../runtime/reconcile/conditions.ts';
import type { KubeconfigState } from './claim-kubeconfigs.ts';

/** Why a claim has no control plane that it can use. */
export interface Unbound {
  readonly reason: ReasonOf<'ControlPlaneClaim', 'Bound'>;
  readonly message: string;
}

/** The status of a claim that has no control plane, or whose control plane is gone. */
export function unboundStatus(
  claim: ControlPlaneClaim,
  { reason, message }: Unbound,
  now: Date,
): ControlPlaneClaimStatus {
  return { ...claim.status, ...withCondition(claim, bound('False', reason, message), now) };
}

/** The status of a claim with a control plane. */
export function boundStatus(
  claim: ControlPlaneClaim,
  tcp: TenantControlPlane,
  kubeconfig: KubeconfigState,
  now: Date,
): ControlPlaneClaimStatus {
  const { name } = tcp.metadata;
  const condition =
    kubeconfig.is === 'written'
      ? bound('True', 'Bound', `TenantControlPlane ${name} belongs to this claim`)
      : bound('False', kubeconfig.reason, kubeconfig.message);
  const { kubeconfigSecret: before, boundTime = now.toISOString(), ...status } = claim.status ?? {};
  const kubeconfigSecret = kubeconfig.is === 'written' ? kubeconfig.secret : before;
  return {
    ...status,
    ...withCondition(claim, condition, now),
    tenantControlPlane: name,
    ...(kubeconfigSecret !== undefined && { kubeconfigSecret }),
    boundTime,
  };
}

/** The status of a claim that waits for its control plane to be gone. */
export function deletingStatus(claim: ControlPlaneClaim, name: string, now: Date): ControlPlaneClaimStatus {
  const message = `waiting for TenantControlPlane ${name} to be deleted`;
  const reason = 'DeletingControlPlane';
  const deleting = stateCondition('ControlPlaneClaim', { type: 'Deleting', status: 'True', reason, message });
  return { ...claim.status, ...withCondition(claim, deleting, now) };
}

function bound(status: 'True' | 'False', reason: Unbound['reason'], message: string): StatedCondition {
  return stateCondition('ControlPlaneClaim', { type: 'Bound', status, reason, message });
}

function withCondition(
  { metadata, status }: ControlPlaneClaim,
  condition: StatedCondition,
  now: Date,
): Pick<ControlPlaneClaimStatus, 'observedGeneration' | 'conditions'> {
  const at = { generation: metadata.generation, now };
  return {
    observedGeneration: at.generation,
    conditions: setConditions(status?.conditions ?? [], [condition], at),
  };
}

import type { Deployment } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { conditionLine, currentCondition } from '../control-plane/ready-condition.ts';
import { done } from './import-step.ts';
import type { Next } from './import-step.ts';

/** Whether Steward has brought up its pods, `reached` of which the Service leads to, and nothing is replaced anymore. */
export function isServing(
  ours: TenantControlPlane | undefined,
  deployment: Deployment | undefined,
  reached: number,
): Next {
  if (ours === undefined) return { is: 'failed', message: 'the TenantControlPlane of Steward is gone' };
  const paused = currentCondition(ours, 'Paused');
  const ready = currentCondition(ours, 'Ready');
  if (paused?.status === 'True' || ready === undefined)
    return { is: 'wait', for: 'a manager of Steward to reconcile the control plane' };
  const isReady = ready.status === 'True' ? ready.reason === 'Ready' : ready.reason === 'Sleeping' && isAsleep(ours);
  if (!isReady) return { is: 'wait', for: `the control plane to be Ready: ${conditionLine(ready)}` };
  const { metadata, spec, status } = deployment ?? {};
  const isRolled =
    status?.observedGeneration === metadata?.generation &&
    [status?.updatedReplicas, status?.readyReplicas, status?.replicas].every(
      (count) => (count ?? 0) === spec?.replicas,
    );
  if (deployment === undefined || !isRolled) return { is: 'wait', for: 'all pods to be new and ready' };
  if (reached < (spec?.replicas ?? 0)) return { is: 'wait', for: 'the Service to lead to the new pods' };
  return done;
}

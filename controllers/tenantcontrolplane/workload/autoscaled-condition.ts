import type { Condition } from '../../../api/meta.ts';
import { isAsleep, whyAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** What a reconcile found about the autoscaler. */
export interface AutoscalerFacts {
  /** Autoscalers of others that scale the same Deployment. */
  readonly others: readonly string[];
  /** Whether it can compute a number of pods, as the autoscaler itself reports it; absent before it has. */
  readonly active?: { readonly status: string; readonly reason?: string; readonly message?: string };
}

/** Status, reason and message of a condition. */
type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The condition about autoscaling; undefined where none was ever requested. `error` is why it could not be set up. */
export function autoscaledCondition(
  tcp: TenantControlPlane,
  facts: AutoscalerFacts | undefined,
  error: string | undefined,
): Finding | undefined {
  const { autoscaling } = tcp.spec.controlPlane.deployment;
  if (autoscaling === undefined) {
    const isKnown = tcp.status?.conditions?.some(({ type }) => type === 'Autoscaled') === true;
    const message = 'spec.controlPlane.deployment.replicas is the number of pods';
    return isKnown ? { status: 'False', reason: 'NotRequested', message } : undefined;
  }
  if (isAsleep(tcp)) return { status: 'False', reason: 'Sleeping', message: whyAsleep(tcp) };
  if (error !== undefined) return { status: 'False', reason: 'Failed', message: error };
  const { others = [], active } = facts ?? {};
  if (others.length > 0) {
    const message = `HorizontalPodAutoscaler ${others.join(', ')} already scales the Deployment: Steward does not create its own, because two would fight; delete the other one, or remove spec.controlPlane.deployment.autoscaling`;
    return { status: 'False', reason: 'OtherAutoscaler', message };
  }
  // With 0 pods it is switched off, which ends with the first pod.
  if (active?.status === 'False' && active.reason !== 'ScalingDisabled') {
    return { status: 'False', reason: 'MetricsUnavailable', message: active.message ?? active.reason ?? '' };
  }
  return { status: 'True', reason: 'Autoscaled', message: '' };
}

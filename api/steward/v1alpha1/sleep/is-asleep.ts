import { annotations } from '../../../names.ts';
import type { TenantControlPlane } from '../tenant-control-plane.ts';

type Sleeper = Pick<TenantControlPlane, 'spec' | 'status'>;

/** True while no pods are wanted: the spec has 0 replicas, or the manager has put the control plane to sleep. */
export function isAsleep(tcp: Sleeper): boolean {
  return tcp.spec.controlPlane.deployment.replicas === 0 || tcp.status?.sleep?.state === 'Asleep';
}

/** How many pods the spec wants at this time, regardless of autoscalers. */
export function replicasNow(tcp: Sleeper): number {
  return isAsleep(tcp) ? 0 : tcp.spec.controlPlane.deployment.replicas;
}

/** Why no pods are wanted, as text. */
export function whyAsleep({ spec, status }: Sleeper): string {
  if (spec.controlPlane.deployment.replicas === 0) return 'spec.controlPlane.deployment.replicas is 0';
  const { reason, nextTransitionTime } = status?.sleep ?? {};
  const what =
    reason === 'Manual'
      ? `the annotation ${annotations.sleepUntil} is set`
      : reason === 'Use'
        ? `nobody has used it for ${spec.sleep?.afterIdle ?? 'some time'}`
        : 'it sleeps by its schedule';
  return nextTransitionTime === undefined ? what : `${what}; it wakes up at ${nextTransitionTime}`;
}

import { counted } from '../../../api/counted.ts';
import { isAsleep, whyAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Progress } from './follow-object.ts';
import { conditionLine, currentCondition } from './ready-condition.ts';

/** How far a control plane is from having no pods. */
export function sleepProgress(tenant: TenantControlPlane): Progress {
  if (tenant.spec.controlPlane.deployment.replicas !== 0) {
    return { state: 'waiting', line: 'the StewardControlPlane has not changed its TenantControlPlane yet' };
  }
  return untilNoPods(tenant);
}

/** How far one is that an annotation puts to sleep. */
export function overriddenSleepProgress(tenant: TenantControlPlane): Progress {
  if (isAsleep(tenant)) return untilNoPods(tenant);
  const found = currentCondition(tenant, 'Asleep');
  const isDelayed = found?.reason === 'WorkUnderWay' || found?.reason === 'Starting';
  return { state: 'waiting', line: isDelayed ? conditionLine(found) : 'the manager has not seen the change yet' };
}

function untilNoPods({ metadata, status }: TenantControlPlane): Progress {
  const seen = currentCondition({ metadata, status }, 'Ready');
  const { replicas = 0, terminatingReplicas = 0 } = status?.kubernetesResources?.deployment ?? {};
  const left = replicas + terminatingReplicas;
  if (seen === undefined) return { state: 'waiting', line: 'the manager has not seen the change yet' };
  if (seen.reason === 'Sleeping' && left === 0) return { state: 'done', line: 'sleeps' };
  return {
    state: 'waiting',
    line: left > 0 ? `${counted(left, 'pod')} ${left === 1 ? 'is' : 'are'} ending` : conditionLine(seen),
  };
}

/** How far a control plane is from being Ready with pods. */
export function wakeProgress(tenant: TenantControlPlane): Progress {
  if (tenant.spec.controlPlane.deployment.replicas === 0) {
    return { state: 'waiting', line: 'the StewardControlPlane has not changed its TenantControlPlane yet' };
  }
  if (isAsleep(tenant)) {
    return { state: 'waiting', line: `${whyAsleep(tenant)}; kubectl steward wake --until wakes it up` };
  }
  const ready = currentCondition(tenant, 'Ready');
  if (ready === undefined) return { state: 'waiting', line: 'the manager has not seen the change yet' };
  if (ready.status === 'True' && ready.reason !== 'Sleeping') return { state: 'done', line: 'is Ready' };
  return { state: 'waiting', line: conditionLine(ready) };
}

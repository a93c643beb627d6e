import { isReasonOf, stateCondition } from '../../api/conditions.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { NewCondition } from '../../runtime/reconcile/conditions.ts';

/** What the TenantControlPlane says of its sleep, for those who see the StewardControlPlane alone; nothing if it says nothing. */
export function asleepCondition(tenant: TenantControlPlane | undefined): readonly NewCondition[] {
  return (tenant?.status?.conditions ?? []).flatMap(({ type, status, reason, message }) =>
    type === 'Asleep' && isReasonOf('StewardControlPlane', 'Asleep', reason)
      ? [stateCondition('StewardControlPlane', { type, status, reason, message })]
      : [],
  );
}

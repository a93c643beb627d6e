import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** True if `wake` of its schedules is to wake it up; otherwise it only ends the time to sleep. */
export function wakesBySchedule({ spec, status }: Pick<TenantControlPlane, 'spec' | 'status'>): boolean {
  const { wakeOn } = spec.sleep ?? {};
  if (wakeOn === undefined || wakeOn.includes('Schedule')) return true;
  // Without a port of the activator nobody could call it, and it would sleep for ever.
  return wakeOn.includes('Request') && status?.sleep?.port === undefined;
}

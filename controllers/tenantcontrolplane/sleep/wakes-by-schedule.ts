import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** True if `wake` of its schedules is to wake it up; otherwise it only ends the time to sleep. */
export function wakesBySchedule({ spec }: Pick<TenantControlPlane, 'spec'>): boolean {
  const { wakeOn } = spec.sleep ?? {};
  return wakeOn === undefined || wakeOn.includes('Schedule');
}

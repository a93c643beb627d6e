import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** True if a call is to wake it up. */
export function wakesOnRequest({ spec }: Pick<TenantControlPlane, 'spec'>): boolean {
  return spec.sleep?.wakeOn?.includes('Request') === true;
}

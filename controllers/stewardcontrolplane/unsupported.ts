import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { NewCondition } from '../../runtime/conditions.ts';

/** One condition over the fields that are not acted upon: all of this object are handed down, so that its TenantControlPlane tells. */
export function unsupportedCondition(tenant: Pick<TenantControlPlane, 'status'> | undefined): NewCondition {
  const type = 'UnsupportedFields';
  const below = tenant?.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
  if (below === undefined) return { type, status: 'False', reason: 'AllSupported', message: '' };
  return { type, status: 'True', reason: 'NotActedUpon', message: `TenantControlPlane: ${below.message}` };
}

import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { NewCondition } from '../../runtime/reconcile/conditions.ts';

/** One condition over the fields that are not acted upon. All fields of this object are passed on: its TenantControlPlane reports them. */
export function unsupportedCondition(tenant: Pick<TenantControlPlane, 'status'> | undefined): NewCondition {
  const type = 'UnsupportedFields';
  const below = tenant?.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
  if (below === undefined) return { type, status: 'False', reason: 'AllSupported', message: '' };
  return { type, status: 'True', reason: 'FieldsIgnored', message: `TenantControlPlane: ${below.message}` };
}

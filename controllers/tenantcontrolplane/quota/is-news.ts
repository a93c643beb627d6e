import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { DataMeasurement } from './data-measurement.ts';
import { decide } from './quota-decision.ts';
import { isNotable, unblocked } from './quota-status.ts';

/** True when a measurement changes what is decided or recorded about a tenant with a quota: it has to be reconciled. */
export function isNews(tcp: TenantControlPlane, measurement: DataMeasurement, now: Date): boolean {
  const { quota } = tcp.spec;
  if (quota === undefined) return false;
  const before = tcp.status?.quota;
  const { reason, status } = decide(quota, { before, measurement, now });
  const said = tcp.status?.conditions?.find(({ type }) => type === 'WithinQuota');
  // It is never blocked then.
  if (said?.reason === 'PoliciesNotServed') return isNotable(before, unblocked(status));
  return said?.reason !== reason || isNotable(before, status);
}

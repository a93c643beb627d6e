import type { Condition } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { QuotaFacts } from './quota-facts.ts';

/** Status, reason and message of the condition WithinQuota. */
type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

const statusOf = {
  WithinQuota: 'True',
  NearQuota: 'True',
  QuotaExceeded: 'False',
  NotMeasured: 'Unknown',
  MeasurementFailed: 'Unknown',
  PoliciesNotServed: 'Unknown',
} as const;

/**
 * The condition WithinQuota; undefined where there never was a quota, and where nothing new is known. `error` is why the tenant could not
 * be blocked, or allowed to write.
 */
export function quotaCondition(
  { spec, status }: TenantControlPlane,
  facts: QuotaFacts | undefined,
  error: string | undefined,
): Finding | undefined {
  const isKnown = status?.conditions?.some(({ type }) => type === 'WithinQuota') === true;
  if (error !== undefined && (spec.quota !== undefined || isKnown)) {
    return { status: 'Unknown', reason: 'Failed', message: error };
  }
  if (facts === undefined) return undefined;
  if (facts.decision === undefined) {
    return isKnown ? { status: 'True', reason: 'NotRequested', message: '' } : undefined;
  }
  const { reason, message } = facts.tooOld ?? facts.decision;
  return { status: statusOf[reason], reason, message };
}

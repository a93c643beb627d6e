import type { UseStatus } from '../../../../api/steward/v1alpha1/sleep/use-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { UseFinding } from './use-finding.ts';

/**
 * The record of the use. It changes when a finding has another state, and stays while nothing is found. Without `afterIdle` it stays until
 * what belongs to it inside the tenant is removed.
 */
export function useStatusAfter(
  { spec, status }: Pick<TenantControlPlane, 'spec' | 'status'>,
  finding: UseFinding | undefined,
  isRemoved: boolean,
): UseStatus | undefined {
  const before = status?.use;
  if (spec.sleep?.afterIdle === undefined) return isRemoved ? undefined : before;
  if (finding === undefined) return before;
  const { state, counters } = finding;
  const isSame = before?.state === state && state !== 'Idle';
  const since = isSame ? before.since : finding.since.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return { state, since, ...(counters !== undefined && { counters }) };
}

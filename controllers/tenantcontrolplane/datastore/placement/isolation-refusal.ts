import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';

/**
 * Why a DataStore accepts no new tenant until it is verified to isolate tenants, as the end of a sentence; undefined when it accepts one.
 * One with single credentials accepts its one tenant: others are refused elsewhere. One whose verification fails repeatedly, which is no
 * sign of a breach, accepts tenants unless the last completed verification found one. The breach itself is not reported: it may name
 * other tenants, and would show how to reach their data.
 */
export function isolationRefusal({ metadata, spec, status }: DataStore): string | undefined {
  if (spec.isolationPolicy === 'Report') return undefined;
  const found = status?.conditions?.find(({ type }) => type === 'IsolationVerified');
  if (found === undefined || (found.observedGeneration ?? 0) < metadata.generation || found.reason === 'Pending')
    return 'has not been verified to isolate tenants since it was created or changed';
  if (found.status === 'True' || found.reason === 'SharedCredentials') return undefined;
  if (found.reason === 'Inconclusive' && status?.isolation?.breach === undefined) return undefined;
  return `is not verified to isolate tenants (${found.reason})`;
}

/** What to do if a DataStore is not verified to isolate tenants. */
export const isolationRemedy =
  'wait until its condition IsolationVerified is True, use another DataStore, or ask the operator to close the hole that the condition names';

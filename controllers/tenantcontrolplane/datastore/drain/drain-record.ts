import type { DrainedTenant } from '../../../../api/steward/v1alpha1/data-store-drain.ts';
import { requestedDataStore } from '../../../../api/steward/v1alpha1/requested-data-store.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** How long a tenant waits after its first failed migration, in milliseconds; then twice as long each time. */
const firstRetryMs = 10 * 60_000;
const lastRetryMs = 160 * 60_000;

/** The recorded drain, as long as the author has not requested another DataStore since. */
export function drainRecord({ spec, status }: TenantControlPlane): DrainedTenant | undefined {
  const record = status?.storage?.drain;
  return record?.named === (spec.dataStore ?? '') ? record : undefined;
}

/**
 * The record of a tenant that stays in the DataStore with this name. One that was migrated there needs it: without the record it would be
 * migrated to the DataStore that its spec names.
 */
export function stayingRecord(tcp: TenantControlPlane, name: string): DrainedTenant | undefined {
  const record = drainRecord(tcp);
  if (record === undefined) return undefined;
  const { from, named, time } = record;
  if (from === name && (named === '' || named === name)) return undefined;
  return { from: from === name ? named : from, named, dataStoreName: name, ...(time !== undefined && { time }) };
}

/** True when the author has requested another DataStore, to which the data has not been migrated. */
export function isRequestedElsewhere(tcp: TenantControlPlane, name: string): boolean {
  const requested = requestedDataStore(tcp);
  return drainRecord(tcp)?.from !== name && requested !== '' && requested !== name;
}

/** True while the recorded choice is carried out, or is about to be. */
export function isChosen(record: DrainedTenant | undefined, name: string): record is DrainedTenant {
  return record?.from === name && record.dataStoreName !== undefined;
}

/** What a record keeps of migrations that failed. */
export type Failures = Pick<DrainedTenant, 'failures' | 'failedDataStoreName' | 'retryTime'>;

/** What the last migration of a recorded choice adds to its failures; undefined when it has not failed. */
export function failureOf(
  { status }: TenantControlPlane,
  record: DrainedTenant,
  now: Date,
): (Failures & { readonly message: string }) | undefined {
  const { phase, startedAt = '', target, message = 'no further details are known' } = status?.storage?.migration ?? {};
  if (phase !== 'Failed' && phase !== 'Cancelled') return undefined;
  // It was not the migration of this choice.
  if (record.time !== undefined && Date.parse(startedAt) < Date.parse(record.time)) return undefined;
  const failures = (record.failures ?? 0) + 1;
  const delayMs = Math.min(firstRetryMs * 2 ** (failures - 1), lastRetryMs);
  const retryTime = new Date(now.getTime() + delayMs).toISOString();
  return {
    ...{ failures, failedDataStoreName: target?.dataStoreName, retryTime },
    message: `the migration to DataStore ${target?.dataStoreName ?? ''} failed: ${message}; the next attempt is at ${retryTime}`,
  };
}

import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { drainRecord } from './drain-record.ts';

/** Warnings for the author of a tenant whose spec names a DataStore that the tenant has left, or will leave, because of a drain. */
export function drainWarnings(
  tcp: TenantControlPlane,
  stores: readonly Pick<DataStore, 'metadata' | 'spec'>[] = [],
): readonly string[] {
  const named = tcp.spec.dataStore ?? '';
  const record = drainRecord(tcp);
  if (record?.dataStoreName !== undefined && named !== '') {
    const { from, dataStoreName } = record;
    return [
      `spec.dataStore names ${named}, but the data is in DataStore ${dataStoreName} or on its way there, because ${from} was drained: set spec.dataStore to ${dataStoreName}`,
    ];
  }
  const isDrained = stores.some(({ metadata, spec }) => metadata.name === named && spec.drain !== undefined);
  if (!isDrained) return [];
  return [`spec.dataStore names ${named}, which is being drained: the data will be migrated to another DataStore`];
}

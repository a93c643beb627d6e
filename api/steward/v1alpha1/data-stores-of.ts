import { requestedDataStore } from './requested-data-store.ts';
import { migrationShares, shareInUse } from './share-in-use.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';

/**
 * The DataStore that holds a tenant's data, regardless of the current spec, or is about to hold it. Empty if one has
 * yet to be selected. `fallback` is the DataStore of tenants that neither name nor select one; empty if there is none.
 */
export function dataStoreName({ spec, status }: Pick<TenantControlPlane, 'spec' | 'status'>, fallback: string): string {
  const { setup, placement, dataStoreName: recorded } = status?.storage ?? {};
  const inUse = shareInUse(status?.storage);
  if (inUse !== undefined) return inUse.dataStoreName;
  if (setup?.schema !== undefined && recorded !== undefined) return recorded;
  if (placement !== undefined) return placement.dataStoreName;
  if (spec.dataStore !== undefined && spec.dataStore !== '') return spec.dataStore;
  return spec.dataStoreSelector === undefined ? fallback : '';
}

/**
 * Every DataStore that holds data of a tenant or may do so at any moment: the one in use, source and target of a
 * migration, those with previous copies, and those of single resources. Without duplicates, sorted by name.
 */
export function dataStoresOf(tcp: TenantControlPlane, fallback: string): readonly string[] {
  const { spec, status } = tcp;
  const names = [
    dataStoreName(tcp, fallback),
    status?.storage?.dataStoreName ?? '',
    ...migrationShares(status?.storage).map((share) => share.dataStoreName),
    requestedDataStore(tcp),
    ...(spec.dataStoreOverrides ?? []).map(({ dataStore = '' }) => dataStore),
    ...(status?.storage?.overrides ?? []).map((share) => share.dataStoreName),
  ];
  return [...new Set(names)].filter((name) => name !== '').sort();
}

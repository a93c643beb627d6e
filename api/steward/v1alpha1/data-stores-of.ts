import type { DataStoreSpec } from './data-store.ts';
import { migrationShares, shareInUse } from './share-in-use.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';

/**
 * The DataStore that a tenant's data is in, whatever the spec asks for by now, or is about to be in; empty while one is to be
 * chosen. `fallback` is the DataStore of tenants that neither name nor select one, empty when there is none.
 */
export function dataStoreName({ spec, status }: TenantControlPlane, fallback: string): string {
  const { setup, placement, dataStoreName: recorded } = status?.storage ?? {};
  const inUse = shareInUse(status?.storage);
  if (inUse !== undefined) return inUse.dataStoreName;
  if (setup?.schema !== undefined && recorded !== undefined) return recorded;
  if (placement !== undefined) return placement.dataStoreName;
  if (spec.dataStore !== undefined && spec.dataStore !== '') return spec.dataStore;
  return spec.dataStoreSelector === undefined ? fallback : '';
}

/**
 * Every DataStore that holds data of a tenant, or may at any moment: the one in use, one that data moves to or was begun in,
 * and those of single resources. Each once, in the order of their names.
 */
export function dataStoresOf(tcp: TenantControlPlane, fallback: string): readonly string[] {
  const { spec, status } = tcp;
  const names = [
    dataStoreName(tcp, fallback),
    status?.storage?.dataStoreName ?? '',
    ...migrationShares(status?.storage).map((share) => share.dataStoreName),
    spec.dataStore ?? '',
    ...(spec.dataStoreOverrides ?? []).map(({ dataStore = '' }) => dataStore),
    ...(status?.storage?.overrides ?? []).map((share) => share.dataStoreName),
  ];
  return [...new Set(names)].filter((name) => name !== '').sort();
}

/** True for a store that has no means to keep tenants apart: NATS without a key that signs accounts. */
export function servesOneTenant(spec: DataStoreSpec): boolean {
  return spec.driver === 'NATS' && !Object.hasOwn(spec, 'nats');
}

import type { TenantControlPlane } from './tenant-control-plane.ts';

/**
 * The DataStore to which a tenant's data belongs: the one that `spec.dataStore` names, unless Steward has migrated the tenant
 * because it was drained. Empty when the spec names none.
 */
export function requestedDataStore({ spec, status }: Pick<TenantControlPlane, 'spec' | 'status'>): string {
  const named = spec.dataStore ?? '';
  const drained = status?.storage?.drain;
  return drained?.dataStoreName !== undefined && drained.named === named ? drained.dataStoreName : named;
}

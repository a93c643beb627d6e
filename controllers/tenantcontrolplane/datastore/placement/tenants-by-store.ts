import type { Key } from '../../../../api/meta.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** All tenants that occupy room in a DataStore. */
export interface Occupants {
  readonly stores: readonly DataStore[];
  readonly tenants: readonly TenantControlPlane[];
  /** Tenants that are about to be recorded in a datastore. */
  readonly held: readonly { readonly key: Key; readonly store: string }[];
  readonly defaultDataStore: string;
  /** Namespace of `tenants`; empty when they are all tenants. */
  readonly namespace: string;
}

/** How many tenants each DataStore holds or will hold. Those of other namespaces are known from the status of the DataStores. */
export function tenantsByStore(occupants: Occupants): ReadonlyMap<string, number> {
  const { stores, tenants, held, defaultDataStore, namespace } = occupants;
  const names = new Map<string, Set<string>>();
  const add = (store: string, tenant: string): void => {
    names.set(store, (names.get(store) ?? new Set()).add(tenant));
  };
  for (const tcp of tenants) for (const store of dataStoresOf(tcp, defaultDataStore)) add(store, textOf(tcp.metadata));
  for (const { key, store } of held) add(store, textOf(key));
  for (const { metadata, status } of namespace === '' ? [] : stores)
    for (const tenant of status?.usedBy ?? []) if (!tenant.startsWith(`${namespace}/`)) add(metadata.name, tenant);
  return new Map([...names].map(([store, users]) => [store, users.size]));
}

function textOf({ namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string }): string {
  return `${namespace}/${name}`;
}

import { annotations } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { dataOwner } from '../../../api/steward/v1alpha1/data-owner.ts';
import { shareInUse } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** UID of the owner of the data. */
export function tenancyOwner(tcp: TenantControlPlane): string {
  return dataOwner(tcp) ?? '';
}

/** True when the author chose names in the datastore: they may belong to another tenant until the datastore has been checked. */
export function choosesNames({ spec }: TenantControlPlane): boolean {
  return (spec.dataStoreSchema ?? '') !== '' || (spec.dataStoreUsername ?? '') !== '';
}

/** The inputs that decide the names of the tenancy. */
export function tenancyFacts(tcp: TenantControlPlane): {
  readonly uid: string;
  readonly recorded: { readonly schema?: string | undefined; readonly user?: string | undefined } | undefined;
  readonly requested: { readonly schema?: string | undefined; readonly user?: string | undefined };
} {
  return {
    uid: tenancyOwner(tcp),
    recorded: shareInUse(tcp.status?.storage) ?? tcp.status?.storage?.setup,
    requested: { schema: tcp.spec.dataStoreSchema, user: tcp.spec.dataStoreUsername },
  };
}

/**
 * True when existing data under these names is adopted although it has no owner: the status recorded it before owners existed, or
 * the operator of the datastore grants it. The author of a tenant cannot grant it: the data may belong to another tenant.
 */
export function adoptsTenancy(tcp: TenantControlPlane, schema: string, store: DataStore | undefined): boolean {
  return tcp.status?.storage?.setup?.schema === schema || adoptionGranted(tcp, schema, store);
}

/** True when the operator of the datastore grants this tenant the existing data under this name. */
export function adoptionGranted(tcp: TenantControlPlane, schema: string, store: DataStore | undefined): boolean {
  const { namespace, name } = tcp.metadata;
  const granted = (store?.metadata.annotations?.[annotations.adoptSchema] ?? '')
    .split(',')
    .map((entry) => entry.trim());
  return granted.includes(`${namespace}/${name}=${schema}`);
}

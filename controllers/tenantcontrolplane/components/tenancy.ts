import type { Condition } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { shareInUse } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/**
 * UID of the object whose data it is: the TenantControlPlane itself, or the one before it whose data it has taken over, as only the
 * controller records in the status. Never that of an owner reference, which its author may write: it would open, and on deletion
 * remove, the data of whoever has that UID.
 */
export function tenancyOwner({ metadata, status }: TenantControlPlane): string {
  return status?.storage?.owner ?? metadata.uid ?? '';
}

/** True when the author chose names in the store: then they may be somebody else's until the store has told. */
export function choosesNames({ spec }: TenantControlPlane): boolean {
  return (spec.dataStoreSchema ?? '') !== '' || (spec.dataStoreUsername ?? '') !== '';
}

/** What decides the tenancy's names, for the chooser of names. */
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
 * True when what exists in the store under these names is taken over although it carries no owner: it was recorded in the
 * status before owners were, or whoever is in charge of the store says so. The author of a tenant cannot: the data may be
 * another's.
 */
export function adoptsTenancy(tcp: TenantControlPlane, schema: string, store: DataStore | undefined): boolean {
  return tcp.status?.storage?.setup?.schema === schema || adoptionGranted(tcp, schema, store);
}

/** True when whoever is in charge of the store lets this tenant have what is there under this name. */
export function adoptionGranted(tcp: TenantControlPlane, schema: string, store: DataStore | undefined): boolean {
  const { namespace = '', name = '' } = tcp.metadata;
  const granted = (store?.metadata.annotations?.[annotations.adoptSchema] ?? '')
    .split(',')
    .map((entry) => entry.trim());
  return granted.includes(`${namespace}/${name}=${schema}`);
}

/** Why a DataStore cannot be used, as its own condition says; undefined while it can, or while nobody has looked yet. */
export function storeTrouble({ status }: DataStore): Pick<Condition, 'reason' | 'message'> | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' ? { reason: ready.reason, message: ready.message } : undefined;
}

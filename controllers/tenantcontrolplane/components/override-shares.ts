import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { OverrideShare } from '../../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Tenancy } from '../../../stores/driver.ts';
import { adoptionGranted, tenancyOwner } from './tenancy.ts';

/** Where single resources are, and where they shall be. */
export interface OverridePlan {
  /** What the spec asks for, by resource. */
  readonly wanted: readonly OverrideShare[];
  /** What the status is to record: all that is wanted, and what is not any more and still has to be removed. */
  readonly shares: readonly OverrideShare[];
  /** True when the status records all that is wanted. */
  readonly recorded: boolean;
}

/** The share of a store that a record is about; several resources may be in one. */
export function isSameShare(one: OverrideShare, other: OverrideShare): boolean {
  return one.dataStoreName === other.dataStoreName && one.schema === other.schema && one.user === other.user;
}

function isSameRecord(one: OverrideShare, other: OverrideShare): boolean {
  return one.resource === other.resource && isSameShare(one, other);
}

/** What the status records, of this visit's begin. */
export function recordedShares({ status }: TenantControlPlane): readonly OverrideShare[] {
  return status?.storage?.overrides ?? [];
}

/**
 * The plan for a tenant whose main share has these names: they are those of the other shares, since kube-apiserver has one prefix
 * and one certificate. While the data migrates nothing new begins: the names may change with it.
 */
export function overridePlan(
  tcp: TenantControlPlane,
  { schema, user }: Pick<Tenancy, 'schema' | 'user'>,
): OverridePlan {
  const recorded = recordedShares(tcp);
  const asked = (tcp.spec.dataStoreOverrides ?? [])
    .map(({ resource = '', dataStore = '' }): OverrideShare => ({ resource, dataStoreName: dataStore, schema, user }))
    .map((share) => recorded.find((known) => isSameRecord(known, share)) ?? share)
    .filter((share) => recorded.includes(share) || !isUnderWay(tcp.status?.storage?.migration))
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
  const obsolete = recorded.filter((share) => !asked.includes(share));
  const isRecorded = asked.every((share) => recorded.includes(share));
  return { wanted: asked, shares: [...asked, ...obsolete], recorded: isRecorded };
}

/** Each share once, whatever the number of its resources. */
export function distinctShares(shares: readonly OverrideShare[]): readonly OverrideShare[] {
  return shares.filter((share, index) => shares.findIndex((other) => isSameShare(other, share)) === index);
}

/** The DataStores that single resources are in or shall be in, each once. */
export function overrideStoreNames(tcp: TenantControlPlane): readonly string[] {
  const names = [
    ...(tcp.spec.dataStoreOverrides ?? []).map(({ dataStore = '' }) => dataStore),
    ...recordedShares(tcp).map(({ dataStoreName }) => dataStoreName),
  ];
  return [...new Set(names)].filter((name) => name !== '').sort();
}

/**
 * The tenancy of a share. Its owner is not that of the main share: two DataStores may lead to one etcd, and then the names are
 * taken there by the main share, which must never be removed as an override.
 */
export function overrideTenancy(tcp: TenantControlPlane, share: OverrideShare, store?: DataStore): Tenancy {
  const { schema, user, dataStoreName } = share;
  const owner = `${tenancyOwner(tcp)}/overrides/${dataStoreName}`;
  return { schema, user, owner, adopt: adoptionGranted(tcp, schema, store) };
}

/** True once there may be objects of the tenant: an API server of it was asked for. */
export function hasRun(status: TenantControlPlane['status'], deployment?: unknown): boolean {
  return status?.kubernetesResources?.deployment !== undefined || deployment !== undefined;
}

/**
 * Where the resources of a tenant are that has run, as overrides: what is on record, and what whoever is in charge of a store
 * lets it have there.
 */
export function heldOverrides(
  tcp: TenantControlPlane,
  { schema, user }: Pick<Tenancy, 'schema' | 'user'>,
  stores: ReadonlyMap<string, DataStore>,
): readonly { readonly resource: string; readonly dataStore: string }[] {
  const recorded = recordedShares(tcp).filter((share) => share.schema === schema && share.user === user);
  const granted = (tcp.spec.dataStoreOverrides ?? []).filter(({ resource = '', dataStore = '' }) => {
    const isRecorded = recorded.some((share) => share.resource === resource);
    return !isRecorded && adoptionGranted(tcp, schema, stores.get(dataStore));
  });
  return [
    ...recorded.map(({ resource, dataStoreName: dataStore }) => ({ resource, dataStore })),
    ...granted.map(({ resource = '', dataStore = '' }) => ({ resource, dataStore })),
  ];
}

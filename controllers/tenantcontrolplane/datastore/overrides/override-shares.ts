import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { OverrideShare } from '../../../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Tenancy } from '../../../../stores/driver.ts';
import { adoptionGranted, tenancyOwner } from '../tenancy.ts';

/** Where overridden resources are stored, and where they should be. */
export interface OverridePlan {
  /** The wanted overrides, by resource. */
  readonly wanted: readonly OverrideShare[];
  /** What the status must record: everything wanted, and what is no longer wanted but not removed yet. */
  readonly shares: readonly OverrideShare[];
  /** True when the status records everything that is wanted. */
  readonly recorded: boolean;
}

/** True when both records are about the same tenancy; several resources may be in one. */
export function isSameShare(one: OverrideShare, other: OverrideShare): boolean {
  return one.dataStoreName === other.dataStoreName && one.schema === other.schema && one.user === other.user;
}

function isSameRecord(one: OverrideShare, other: OverrideShare): boolean {
  return one.resource === other.resource && isSameShare(one, other);
}

/** The tenancies that the status recorded when this reconcile began. */
export function recordedShares({ status }: TenantControlPlane): readonly OverrideShare[] {
  return status?.storage?.overrides ?? [];
}

/**
 * The plan for a tenant whose main tenancy has these names: all tenancies use them, because kube-apiserver has one prefix
 * and one certificate. During a migration nothing new is added: the names may change with it.
 */
export function overridePlan(
  tcp: TenantControlPlane,
  { schema, user }: Pick<Tenancy, 'schema' | 'user'>,
): OverridePlan {
  const recorded = recordedShares(tcp);
  const requested = (tcp.spec.dataStoreOverrides ?? [])
    .map(({ resource = '', dataStore = '' }): OverrideShare => ({ resource, dataStoreName: dataStore, schema, user }))
    .map((share) => recorded.find((known) => isSameRecord(known, share)) ?? share)
    .filter((share) => recorded.includes(share) || !isUnderWay(tcp.status?.storage?.migration))
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
  const obsolete = recorded.filter((share) => !requested.includes(share));
  const isRecorded = requested.every((share) => recorded.includes(share));
  return { wanted: requested, shares: [...requested, ...obsolete], recorded: isRecorded };
}

/** Each tenancy once, regardless of the number of its resources. */
export function distinctShares(shares: readonly OverrideShare[]): readonly OverrideShare[] {
  return shares.filter((share, index) => shares.findIndex((other) => isSameShare(other, share)) === index);
}

/** The DataStores that overridden resources are in or should be in, each once. */
export function overrideStoreNames(tcp: TenantControlPlane): readonly string[] {
  const names = [
    ...(tcp.spec.dataStoreOverrides ?? []).map(({ dataStore = '' }) => dataStore),
    ...recordedShares(tcp).map(({ dataStoreName }) => dataStoreName),
  ];
  return [...new Set(names)].filter((name) => name !== '').sort();
}

/**
 * The tenancy of an override. Its owner differs from that of the main tenancy: two DataStores may be the same etcd, and then the
 * main tenancy already has the names there and must never be removed as an override.
 */
export function overrideTenancy(tcp: TenantControlPlane, share: OverrideShare, store?: DataStore): Tenancy {
  const { schema, user, dataStoreName } = share;
  const owner = `${tenancyOwner(tcp)}/overrides/${dataStoreName}`;
  return { schema, user, owner, adopt: adoptionGranted(tcp, schema, store) };
}

/** True once objects of the tenant may exist: an API server was started for it. */
export function hasRun(status: TenantControlPlane['status'], deployment?: unknown): boolean {
  return status?.kubernetesResources?.deployment !== undefined || deployment !== undefined;
}

/**
 * Where the resources of a tenant that has run are stored, as overrides: those on record, and those that the operator of a
 * datastore lets it adopt.
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

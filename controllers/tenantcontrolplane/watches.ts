import { kinds } from '../../api/core/kinds.ts';
import { gateway, tlsRoutes } from '../../api/gateway-api/kinds.ts';
import type { Key, KindRef, Resource } from '../../api/meta.ts';
import { labels, migrationComponent } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName, dataStoresOf } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ingressRouteTcp } from '../../api/traefik/kinds.ts';
import { isTrue } from '../../runtime/conditions.ts';
import type { Watch } from '../../runtime/controller.ts';
import type { InformerFactory } from '../../runtime/informer-factory.ts';
import { hostClaims } from './components/host-claims.ts';
import { gatewayKeys } from './components/route-verdict.ts';
import { budgetIdentities, isForeignBudget } from './foreign-budgets.ts';
import { leavesStore, mayTakeMore } from './components/placement/frees-room.ts';
import { storeTrouble } from './components/tenancy.ts';

/** A kind that tenants own, and how it is followed. */
export type OwnedKind = Pick<Watch, 'kind' | 'labelSelector' | 'metadataOnly' | 'optional'>;

/** Kinds that a tenant owns in the management cluster. Secrets and ConfigMaps are followed without their content. */
export const ownedKinds: readonly OwnedKind[] = [
  { kind: kinds.Service, labelSelector: labels.name },
  { kind: kinds.Deployment, labelSelector: labels.name },
  { kind: kinds.PodDisruptionBudget, labelSelector: labels.name, metadataOnly: true },
  { kind: kinds.NetworkPolicy, labelSelector: labels.name, metadataOnly: true },
  { kind: kinds.Secret, labelSelector: labels.name, metadataOnly: true },
  { kind: kinds.ConfigMap, labelSelector: labels.name, metadataOnly: true },
  { kind: kinds.Ingress, labelSelector: labels.name },
  // Not every cluster has these, and of TLSRoute each has other versions.
  ...[...tlsRoutes, ingressRouteTcp].map((kind) => ({ kind, labelSelector: labels.name, optional: true })),
];

/** Kinds of which others make objects by hand, perhaps under the name of a tenant. */
export const writtenByHand: readonly KindRef[] = [
  kinds.PodDisruptionBudget,
  kinds.NetworkPolicy,
  kinds.Ingress,
  ...tlsRoutes,
  ingressRouteTcp,
];

/** The watch that follows a kind that tenants own. */
export function watchOf({ group, version, plural }: KindRef): OwnedKind | undefined {
  return ownedKinds.find(({ kind }) => kind.group === group && kind.version === version && kind.plural === plural);
}

/** The tenant that an object belongs to. */
function ownerKeys(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const { namespace, ownerReferences, labels: carried } = (now ?? old)?.metadata ?? {};
  const owner = ownerReferences?.find(({ kind }) => kind === tenantControlPlane.kind)?.name ?? carried?.[labels.name];
  return owner === undefined || namespace === undefined ? [] : [{ namespace, name: owner }];
}

/** True when the spec has changed, or whether the store can be used. Who uses it concerns nobody here. */
function differs(old: DataStore | undefined, now: DataStore | undefined): boolean {
  const [before, after] = [old, now].map((store) => (store === undefined ? undefined : storeTrouble(store)));
  return (
    old?.metadata.uid !== now?.metadata.uid ||
    old?.metadata.generation !== now?.metadata.generation ||
    before?.reason !== after?.reason ||
    before?.message !== after?.message
  );
}

type Informers = Pick<InformerFactory, 'informer'>;

function tenantsThat(informers: Informers, holds: (tcp: TenantControlPlane) => boolean): readonly Key[] {
  const tenants = informers.informer({ kind: tenantControlPlane }).list().filter(holds);
  return tenants.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
}

/** Those that wait for a DataStore to be chosen: one that freed room may be it. */
function waiting(informers: Informers, defaultDataStore: string): readonly Key[] {
  return tenantsThat(informers, (tcp) => dataStoreName(tcp, defaultDataStore) === '');
}

/** The tenants that a change of a DataStore concerns: those that use it, and those that might. */
function concernedByStore(informers: Informers, defaultDataStore: string): Watch<DataStore>['keys'] {
  return (old, now) => {
    const name = (now ?? old)?.metadata.name ?? '';
    return [
      ...(differs(old, now) ? tenantsThat(informers, (tcp) => dataStoresOf(tcp, defaultDataStore).includes(name)) : []),
      ...(mayTakeMore(old, now) ? waiting(informers, defaultDataStore) : []),
    ];
  };
}

/** The tenant that the Job of a migration is of. */
function migratedKeys(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const carried = (now ?? old)?.metadata.labels;
  const [name, namespace] = [carried?.[labels.migrationTenant], carried?.[labels.migrationNamespace]];
  return name === undefined || namespace === undefined ? [] : [{ namespace, name }];
}

/** The Jobs of migrations, which stand in the operator's namespace. What their processes say is in the annotations. */
function migrationJobs(namespace: string): readonly Watch[] {
  if (namespace === '') return [];
  const labelSelector = `${labels.component}=${migrationComponent}`;
  return [{ kind: kinds.Job, namespace, labelSelector, metadataOnly: true, keys: migratedKeys }];
}

/**
 * The tenants that a change of a Gateway concerns: all that are published by it when it comes or goes, else those that wait.
 * Each route that is attached changes its Gateway, so that with a thousand tenants on one all of them would be visited for
 * every new one; what a Gateway thinks of a route stands in the route, and is followed there.
 */
function publishedBy(informers: Informers): Watch['keys'] {
  return (old, now) => {
    const { namespace, name } = (now ?? old)?.metadata ?? {};
    const isOther = old?.metadata.uid !== now?.metadata.uid;
    const isConcerned = (tcp: TenantControlPlane): boolean =>
      isOther || !isTrue(tcp.status?.conditions, 'EndpointReady');
    const isThis = (key: Key): boolean => key.namespace === namespace && key.name === name;
    return tenantsThat(informers, (tcp) => gatewayKeys(tcp).some(isThis) && isConcerned(tcp));
  };
}

/** The control planes of several pods whose namespace has got or lost a PodDisruptionBudget that none of them made. */
function besideBudget(informers: Informers): Watch['keys'] {
  return (old, now) => {
    // Whether it covers pods may change later, too: that is seen at the next visit.
    if (old?.metadata.uid === now?.metadata.uid) return [];
    const { namespace, name = '' } = (now ?? old)?.metadata ?? {};
    const here = informers
      .informer({ kind: tenantControlPlane })
      .list()
      .filter(({ metadata }) => metadata.namespace === namespace);
    if (!isForeignBudget(name, here)) return [];
    return here
      .filter(({ spec }) => spec.controlPlane.deployment.replicas > 1)
      .map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
  };
}

/** The tenants that may have been waiting for a host name which another one has given up. */
function freed(
  informers: Informers,
  old: TenantControlPlane | undefined,
  now: TenantControlPlane | undefined,
): readonly Key[] {
  if (old === undefined) return [];
  const kept = new Set(now === undefined ? [] : hostClaims(now));
  const given = new Set(hostClaims(old).filter((claim) => !kept.has(claim)));
  if (given.size === 0) return [];
  return tenantsThat(informers, (tcp) => hostClaims(tcp).some((claim) => given.has(claim)));
}

/** The tenants of a namespace whose labels have changed: DataStores may take tenants by them. */
function relabelled(informers: Informers): Watch['keys'] {
  return (old, now) => {
    if (old === undefined || now === undefined) return [];
    const [before, after] = [old, now].map(({ metadata }) => labelsText(metadata.labels));
    if (before === after) return [];
    return tenantsThat(informers, ({ metadata }) => metadata.namespace === now.metadata.name);
  };
}

function labelsText(carried: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify(Object.entries(carried).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What else concerns a TenantControlPlane. Migrations have Jobs in the operator's namespace, unless that is empty. */
export function tenantControlPlaneWatches(
  informers: Informers,
  defaultDataStore: string,
  operatorNamespace = '',
): readonly Watch[] {
  return [
    ...migrationJobs(operatorNamespace),
    ...ownedKinds.map((selection): Watch => ({ ...selection, keys: ownerKeys })),
    { kind: gateway, identityOnly: true, optional: true, keys: publishedBy(informers) },
    { kind: kinds.Namespace, metadataOnly: true, keys: relabelled(informers) },
    { ...budgetIdentities, keys: besideBudget(informers) },
    { kind: dataStore, keys: concernedByStore(informers, defaultDataStore) } satisfies Watch<DataStore>,
    {
      kind: tenantControlPlane,
      keys: (old, now) => [
        ...(leavesStore(old, now, defaultDataStore) ? waiting(informers, defaultDataStore) : []),
        ...freed(informers, old, now),
      ],
    } satisfies Watch<TenantControlPlane>,
  ];
}

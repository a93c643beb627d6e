import { kinds } from '../../api/core/kinds.ts';
import type { HorizontalPodAutoscaler } from '../../api/core/kinds.ts';
import { gateway, tlsRoutes } from '../../api/gateway-api/kinds.ts';
import type { Key, KindRef, Resource } from '../../api/meta.ts';
import { labels, migrationComponent } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName, dataStoresOf } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { formerKey, retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { isUnderWay } from '../../api/steward/v1alpha1/share-in-use.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { podMonitor } from '../../api/prometheus-operator/kinds.ts';
import { ingressRouteTcp } from '../../api/traefik/kinds.ts';
import { isTrue } from '../../runtime/reconcile/conditions.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { backupWatches } from './sleep/backups-of.ts';
import { wakingWatches } from './sleep/waking/waking.ts';
import { addons } from './addons/registry.ts';
import type { SecretReaders } from './configuration/secret-readers.ts';
import { mostReplicas } from './shared/replicas.ts';
import { serversOf } from './shared/addon-server.ts';
import { hostClaims } from './endpoint/host-claims.ts';
import { gatewayKeys } from './endpoint/exposure/route-status.ts';
import { budgetIdentities, isForeignBudget } from './workload/external-pdbs.ts';
import { leavesStore, mayTakeMore } from './datastore/placement/frees-room.ts';
import { storeTrouble } from './shared/store-trouble.ts';
import { isolationRefusal } from './datastore/placement/isolation-refusal.ts';

const servers = serversOf(addons);

/** A kind that tenants own, and how it is watched. */
export type OwnedKind = Pick<Watch, 'kind' | 'labelSelector' | 'metadataOnly' | 'optional'>;

/** The Secrets of tenants, without what is in them. */
export const ownedSecrets = { kind: kinds.Secret, labelSelector: labels.name, metadataOnly: true } as const;

/** All Secrets, with nothing but their names and versions. */
export const secretIdentities = { kind: kinds.Secret, identityOnly: true } as const;

/** Kinds that a tenant owns in the management cluster. For Secrets and ConfigMaps, only metadata is watched. */
export const ownedKinds: readonly OwnedKind[] = [
  { kind: kinds.Service, labelSelector: labels.name },
  { kind: kinds.Deployment, labelSelector: labels.name },
  { kind: kinds.PodDisruptionBudget, labelSelector: labels.name, metadataOnly: true },
  { kind: kinds.HorizontalPodAutoscaler, labelSelector: labels.name },
  { kind: kinds.NetworkPolicy, labelSelector: labels.name, metadataOnly: true },
  ownedSecrets,
  { kind: kinds.ConfigMap, labelSelector: labels.name, metadataOnly: true },
  { kind: kinds.Ingress, labelSelector: labels.name },
  // Not every cluster has these kinds, and the versions of TLSRoute differ.
  ...[...tlsRoutes, ingressRouteTcp].map((kind) => ({ kind, labelSelector: labels.name, optional: true })),
  { kind: podMonitor, labelSelector: labels.name, metadataOnly: true, optional: true },
];

/** Kinds of which people create objects by hand, possibly under the name of a tenant. */
export const writtenByHand: readonly KindRef[] = [
  kinds.PodDisruptionBudget,
  kinds.HorizontalPodAutoscaler,
  kinds.NetworkPolicy,
  kinds.Ingress,
  ...tlsRoutes,
  ingressRouteTcp,
  podMonitor,
];

/** The watch of a kind that tenants own. */
export function watchOf({ group, version, plural }: KindRef): OwnedKind | undefined {
  return ownedKinds.find(({ kind }) => kind.group === group && kind.version === version && kind.plural === plural);
}

/** The tenant that an object belongs to. */
function ownerKeys(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const { namespace, ownerReferences, labels: carried } = (now ?? old)?.metadata ?? {};
  const owner = ownerReferences?.find(({ kind }) => kind === tenantControlPlane.kind)?.name ?? carried?.[labels.name];
  return owner === undefined || namespace === undefined ? [] : [{ namespace, name: owner }];
}

/**
 * The tenant of an autoscaler, unless only figures in its status changed: it reports what it measures four times a minute, and
 * has no generation.
 */
function scaledKeys(
  old: HorizontalPodAutoscaler | undefined,
  now: HorizontalPodAutoscaler | undefined,
): readonly Key[] {
  const [before, after] = [old, now].map((seen) => {
    const active = seen?.status?.conditions?.find(({ type }) => type === 'ScalingActive');
    const { uid, labels: carried, ownerReferences, deletionTimestamp } = seen?.metadata ?? {};
    const { status, reason } = active ?? {};
    return JSON.stringify([uid, carried, ownerReferences, deletionTimestamp, seen?.spec, status, reason]);
  });
  return before === after ? [] : ownerKeys(old, now);
}

/** The tenant that may adopt what is retained, or waits for the record to be deleted. */
function adopter(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const retained = now ?? old;
  return retained === undefined ? [] : [formerKey(retained)];
}

/** True when the spec or the usability of the DataStore has changed. Which tenants use it is irrelevant here. */
function differs(old: DataStore | undefined, now: DataStore | undefined): boolean {
  const [before, after] = [old, now].map((store) => (store === undefined ? undefined : storeTrouble(store)));
  return (
    old?.metadata.uid !== now?.metadata.uid ||
    old?.metadata.generation !== now?.metadata.generation ||
    before?.reason !== after?.reason ||
    before?.message !== after?.message
  );
}

/** True when the DataStore takes new tenants and did not before, or the other way round, or for another reason. */
function verdictDiffers(old: DataStore | undefined, now: DataStore | undefined): boolean {
  return old !== undefined && now !== undefined && isolationRefusal(old) !== isolationRefusal(now);
}

/** True for a tenant that may have no tenancy yet in a DataStore that it names: only such a tenant waits for its verification. */
function isNewAt(tcp: TenantControlPlane, store: string, defaultDataStore: string): boolean {
  if (!dataStoresOf(tcp, defaultDataStore).includes(store)) return false;
  const { setup, migration } = tcp.status?.storage ?? {};
  const overrides = tcp.spec.dataStoreOverrides ?? [];
  return setup?.schema === undefined || isUnderWay(migration) || overrides.some(({ dataStore }) => dataStore === store);
}

type Informers = Pick<InformerFactory, 'informer'>;

function tenantsThat(informers: Informers, holds: (tcp: TenantControlPlane) => boolean): readonly Key[] {
  const tenants = informers.informer({ kind: tenantControlPlane }).list().filter(holds);
  return tenants.map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
}

/** Tenants that wait for a DataStore to be chosen, or for another one because theirs is drained: one that freed room may fit. */
function waiting(informers: Informers, defaultDataStore: string): readonly Key[] {
  const cannotLeave = ({ status }: TenantControlPlane): boolean =>
    status?.storage?.drain?.message !== undefined && !isUnderWay(status.storage.migration);
  return tenantsThat(informers, (tcp) => dataStoreName(tcp, defaultDataStore) === '' || cannotLeave(tcp));
}

/** The tenants that a change of a DataStore concerns: those that use it, and those that might. */
function concernedByStore(informers: Informers, defaultDataStore: string): Watch<DataStore>['keys'] {
  return (old, now) => {
    const name = (now ?? old)?.metadata.name ?? '';
    return [
      ...(differs(old, now) ? tenantsThat(informers, (tcp) => dataStoresOf(tcp, defaultDataStore).includes(name)) : []),
      ...(verdictDiffers(old, now) ? tenantsThat(informers, (tcp) => isNewAt(tcp, name, defaultDataStore)) : []),
      ...(mayTakeMore(old, now) ? waiting(informers, defaultDataStore) : []),
    ];
  };
}

/** The Jobs of migrations in the manager's namespace. */
export function watchedJobs(namespace: string): Omit<Watch, 'keys'> {
  const labelSelector = `${labels.component}=${migrationComponent}`;
  return { kind: kinds.Job, namespace, labelSelector, metadataOnly: true };
}

/** The tenant that the Job of a migration belongs to. */
function migratedKeys(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const carried = (now ?? old)?.metadata.labels;
  const [name, namespace] = [carried?.[labels.migrationTenant], carried?.[labels.migrationNamespace]];
  return name === undefined || namespace === undefined ? [] : [{ namespace, name }];
}

/** The Jobs of migrations, which run in the manager's namespace. Their annotations hold what the processes report. */
function migrationJobs(namespace: string): readonly Watch[] {
  return namespace === '' ? [] : [{ ...watchedJobs(namespace), keys: migratedKeys }];
}

/**
 * The tenants that a change of a Gateway concerns: all that it exposes when it is created or deleted, otherwise those that wait.
 * Each attached route changes its Gateway, so with a thousand tenants on one Gateway all of them would be reconciled for every
 * new tenant; the Gateway's verdict on a route is in the status of the route, which is watched.
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

/** The control planes with several pods whose namespace gained or lost a PodDisruptionBudget that Steward did not create. */
function besideBudget(informers: Informers): Watch['keys'] {
  return (old, now) => {
    // Whether it covers pods may change later, too, which the next reconcile notices.
    if (old?.metadata.uid === now?.metadata.uid) return [];
    const { namespace, name = '' } = (now ?? old)?.metadata ?? {};
    const here = informers
      .informer({ kind: tenantControlPlane })
      .list()
      .filter(({ metadata }) => metadata.namespace === namespace);
    if (!isForeignBudget(name, here)) return [];
    return here
      .filter((tcp) => mostReplicas(tcp) > 1)
      .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  };
}

/** The tenants that may have waited for a host name which another one no longer has. */
function freed(
  informers: Informers,
  old: TenantControlPlane | undefined,
  now: TenantControlPlane | undefined,
): readonly Key[] {
  if (old === undefined) return [];
  const kept = new Set(now === undefined ? [] : hostClaims(now, servers));
  const given = new Set(hostClaims(old, servers).filter((claim) => !kept.has(claim)));
  if (given.size === 0) return [];
  return tenantsThat(informers, (tcp) => hostClaims(tcp, servers).some((claim) => given.has(claim)));
}

/** The tenants of a namespace whose labels have changed: DataStores may select tenants by them. */
function relabeled(informers: Informers): Watch['keys'] {
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

/** The watch of Secrets with credentials for webhooks: any Secret may become one, so all are followed, without what is in them. */
export function webhookSecretWatch(readers: Pick<SecretReaders, 'readersOf'>): Watch {
  return {
    ...secretIdentities,
    keys: (old, now) => {
      const { namespace = '', name = '' } = (now ?? old)?.metadata ?? {};
      return readers.readersOf({ namespace, name });
    },
  };
}

/** The other watches of a TenantControlPlane. Migrations have Jobs in the manager's namespace, unless that is empty. */
export function tenantControlPlaneWatches(
  informers: Informers,
  defaultDataStore: string,
  operatorNamespace = '',
): readonly Watch[] {
  return [
    ...migrationJobs(operatorNamespace),
    ...wakingWatches(informers, operatorNamespace),
    ...ownedKinds.map((selection): Watch => ({
      ...selection,
      keys: selection.kind === kinds.HorizontalPodAutoscaler ? scaledKeys : ownerKeys,
    })),
    { kind: gateway, identityOnly: true, optional: true, keys: publishedBy(informers) },
    { kind: retainedControlPlane, optional: true, keys: adopter },
    ...backupWatches,
    { kind: kinds.Namespace, metadataOnly: true, keys: relabeled(informers) },
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

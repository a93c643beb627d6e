import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { IssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { AlarmSelection } from '../../tenants/change-alarm.ts';
import type { NodeAddress } from './endpoint/endpoint.ts';
import type { ManagementApi } from './workload/network-policy.ts';
import type { Reach } from './endpoint/reach/reach.ts';
import type { PortRange } from './endpoint/service.ts';
import type { ReconcileCache } from './shared/reconcile-cache.ts';
import type { MonitoringSettings } from './monitoring/pod-monitor.ts';
import type { DataMeasurement } from './quota/data-measurement.ts';
import type { DrainTurns } from './datastore/drain/drain-turns.ts';
import type { Placements } from './datastore/placement/placements.ts';
import type { Addon } from './addons/addon.ts';
import type { RecentLists } from './shared/ttl-list-cache.ts';
import type { Scope } from './scope.ts';
import type { UseFinding } from './sleep/use/use-finding.ts';
import type { Waking } from './sleep/waking/waking.ts';
import type { BoundarySettings } from './workload/boundaries.ts';

/** Owner of the fields that this controller writes, in the management cluster and in tenants. */
export const fieldManager = 'steward';

/** The wanted objects of one component of a tenant, in the management cluster. */
export interface OwnedSet {
  readonly component: string;
  readonly manifests: readonly Manifest[];
  /** Kinds that may hold objects of the component which are no longer wanted. */
  readonly prunes: readonly KindRef[];
}

/** The wanted objects of one component, inside a tenant. */
export interface TenantSet {
  readonly component: string;
  readonly manifests: readonly Manifest[];
  /** Created if they are missing, and then left to the tenant's administrators. */
  readonly createOnly?: readonly Manifest[];
  /** Kinds that may hold objects of the component which are no longer wanted. */
  readonly prunes: readonly KindRef[];
  /** The replicas of its Deployments are only set on creation, and then left to the tenant's administrators. */
  readonly preservedReplicas?: boolean;
  /** Applied without our labels and annotations: others who maintain the same objects compare these. */
  readonly isBare?: boolean;
  /** Applied in this reconcile, even if it was applied before. */
  readonly isOverdue?: boolean;
}

/** Access to tenants. */
export interface TenantAccess {
  /** The tenant's API server, through its Service. It is not trusted: its responses are bounded. */
  client(scope: Readonly<Scope>): Cluster;
  /** Lends a client for the API server of one pod, which is verified by the name of the tenant. */
  atPod<T>(scope: Readonly<Scope>, podIp: string, work: (client: Cluster) => Promise<T>): Promise<T>;
  apply(scope: Readonly<Scope>, set: TenantSet, ctx: Context): Promise<void>;
  /** Others maintain a component from now on: its applied objects stay, and are no longer ours. */
  leave(scope: Readonly<Scope>, component: string): void;
  /** Enqueues the tenant when it has an object that is newer than the selection. */
  wakeOn(scope: Readonly<Scope>, selection: AlarmSelection): void;
  /** Stops waiting for new objects in the tenant with this UID. */
  sleepOn(uid: string): void;
  /** Measures from now on whether the tenant's API server answers, at the address that this reconcile found. */
  probe(scope: Readonly<Scope>): void;
  /** Reads from now on whether the tenant is used, if its spec needs that. */
  meterUse(scope: Readonly<Scope>): void;
  /** Closes all connections to the tenant with this UID, and opens none by itself. */
  close(uid: string): Promise<void>;
}

/** Where and how migrations run. */
export interface Migrations {
  /** The manager's namespace, where their Jobs run. */
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Image of the Jobs. Throws when it is not known. */
  image(signal: AbortSignal): Promise<string>;
  /** How long Migrating is shown at least, in milliseconds, unless a tenant sets its own minimum. */
  readonly minimumHoldMs: number;
}

/** The dependencies of the phases. */
export interface Dependencies {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly migrations: Migrations;
  /** True if a watch has seen a Job of a migration of the tenant with this UID. */
  seesMigrationJob(uid: string): boolean;
  /** Ends the processes that restore a TenantControlPlane, and names those which still write to its data. */
  endRestores(tenant: Required<Key>, signal: AbortSignal): Promise<readonly string[]>;
  /** What a backup or restore of the TenantControlPlane does at the moment, as text; undefined when none is at work. */
  backupUnderWay(tenant: Required<Key>): string | undefined;
  /** Applies one object of the tenant, which its component label names, and returns what is stored. */
  apply<T extends Resource>(scope: Readonly<Scope>, manifest: Manifest, ctx: Context): Promise<T>;
  /** True if the object that this reconcile read already is what `apply` would make it: applying it would change nothing. */
  isApplied(scope: Readonly<Scope>, manifest: Manifest): boolean;
  /**
   * An object of a tenant as a watch last saw it, without managedFields, if this process has applied it, the watch has seen that and is
   * not interrupted; undefined otherwise.
   */
  recent<T extends Resource>(tcp: TenantControlPlane, kind: KindRef<T>, key: Key): T | undefined;
  /** An object of a tenant as a watch last saw it; undefined when there is none, or none that the watch has seen yet. */
  cached(kind: KindRef, key: Key): Resource | undefined;
  /** False when the cluster is known not to serve the kind. */
  isServed(kind: KindRef): boolean;
  /** Applies a component of the tenant that may be unwanted: what the set no longer names is deleted. */
  applySet(scope: Readonly<Scope>, set: OwnedSet, ctx: Context): Promise<void>;
  /** The addresses of the management cluster's nodes, not older than a minute. */
  nodeAddresses(signal: AbortSignal): Promise<readonly NodeAddress[]>;
  /**
   * How many others start now if this control plane has to wait for that; undefined when its pods may start. One that wakes up because
   * somebody called it waits less.
   */
  startTurn(tcp: TenantControlPlane, signal: AbortSignal, isCalled?: boolean): Promise<number | undefined>;
  /** The pods of the control plane with this UID are ready, or given up. */
  startEnded(uid: string): void;
  /** Objects of others in a namespace, not older than a minute. */
  readonly recentLists: RecentLists;
  /** Identifies the PodDisruptionBudgets of others in a namespace, as far as a watch has reported them. */
  foreignBudgets(namespace: string): string;
  /** The addresses of the management cluster's own API server, not older than a minute. */
  managementApi(): Promise<ManagementApi>;
  /** All add-ons: what is below them gets them by this argument. */
  readonly addons: readonly Addon[];
  readonly stores: Pick<StoreAccess, 'open' | 'openTogether' | 'capabilities'>;
  readonly tenants: TenantAccess;
  /** Chooses DataStores for tenants that name none. */
  readonly placements: Pick<Placements, 'place' | 'release'>;
  /** Lets tenants leave a DataStore that is drained, one after the other. */
  readonly drainTurns: Pick<DrainTurns, 'take' | 'goesOn' | 'ended' | 'recheckMs'>;
  /** A DataStore as a watch last saw it. */
  cachedStore(name: string): DataStore | undefined;
  /** The same, if that watch is not interrupted; undefined otherwise. */
  recentStore(name: string): DataStore | undefined;
  /** DataStore of tenants that neither name nor select one; empty when there is no default. */
  readonly defaultDataStore: string;
  /** All TenantControlPlanes that this process knows of, from a cache. */
  allTenants(): readonly TenantControlPlane[];
  /**
   * Name of the Cluster of Cluster API that a TenantControlPlane is proven to belong to, whose author may supply CAs and keys;
   * undefined when it belongs to none.
   */
  clusterOf(tcp: TenantControlPlane, ctx: Pick<Context, 'signal'>): Promise<string | undefined>;
  /** What was found out about the use of the tenant with this UID; undefined before anything was, or if nothing is read. */
  useOf(uid: string): UseFinding | undefined;
  /** What the manager and the activator tell each other. */
  readonly waking: Pick<Waking, 'requests' | 'ports' | 'pods' | 'isPossible'>;
  /** What was found out about the data of the tenant with this UID, if it has a quota; nothing before it was measured. */
  measurementOf(uid: string): DataMeasurement;
  /** How Prometheus scrapes the components of control planes; undefined when it does not. */
  readonly monitoring: MonitoringSettings | undefined;
  /** Image of kine, with tag. */
  readonly kineImage: string;
  /** The newest hosted minor of Kubernetes 1. */
  readonly newestMinor: number;
  /** How much authors may do, as configured by the operator. */
  readonly boundaries: BoundarySettings;
  readonly issuers: IssuerPool;
  readonly memory: ReconcileCache;
  readonly nodePorts: PortRange;
  /** How much control planes may affect outside their namespaces. */
  readonly reach: Reach;
  /** Certificates with less time left than this are renewed, in milliseconds. */
  readonly renewBeforeMs: number;
}

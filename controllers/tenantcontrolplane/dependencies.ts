import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { IssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { Context } from '../../runtime/controller.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { AlarmSelection } from '../../tenants/change-alarm.ts';
import type { NodeAddress } from './components/endpoint.ts';
import type { ManagementApi } from './components/network-policy.ts';
import type { Reach } from './components/reach/reach.ts';
import type { PortRange } from './components/service.ts';
import type { Memory } from './memory.ts';
import type { Placements } from './placements.ts';
import type { RequestBook } from './request-book.ts';
import type { RecentLists } from './recent-lists.ts';
import type { Scope } from './scope.ts';
import type { BoundarySettings } from './validation/boundaries.ts';

/** Owner of the fields that this controller writes, in the management cluster and in tenants. */
export const fieldManager = 'steward';

/** What should exist of one component beside a tenant, in the management cluster. */
export interface OwnedSet {
  readonly component: string;
  readonly manifests: readonly Manifest[];
  /** Kinds that may hold objects of the component which are no longer wanted. */
  readonly prunes: readonly KindRef[];
}

/** What should exist of one component inside a tenant. */
export interface TenantSet {
  readonly component: string;
  readonly manifests: readonly Manifest[];
  /** Made where they are missing and then left to the tenant's administrators. */
  readonly createOnly?: readonly Manifest[];
  /** Kinds that may hold objects of the component which are no longer wanted. */
  readonly prunes: readonly KindRef[];
  /** How many replicas its Deployments have is said when they are made, and then by the tenant's administrators. */
  readonly theirReplicas?: boolean;
  /** Applied without our marks: others who keep the same objects compare what they carry. */
  readonly isBare?: boolean;
  /** Applied in this visit, whatever was applied before. */
  readonly isOverdue?: boolean;
}

/** The way into tenants. */
export interface TenantAccess {
  /** The tenant's API server, through its Service. It is not trusted: answers are bounded. */
  door(scope: Readonly<Scope>): Cluster;
  /** Lends a door to the API server of one pod, whose name is verified as that of the tenant. */
  atPod<T>(scope: Readonly<Scope>, podIp: string, work: (door: Cluster) => Promise<T>): Promise<T>;
  apply(scope: Readonly<Scope>, set: TenantSet, ctx: Context): Promise<void>;
  /** Others look after a component from now on: what was applied of it stays, and is not ours any more. */
  leave(scope: Readonly<Scope>, component: string): void;
  /** Has the tenant visited when it has an object that is newer than the selection says. */
  wakeOn(scope: Readonly<Scope>, selection: AlarmSelection): void;
  /** Nothing new in the tenant of this UID is waited for any more. */
  sleepOn(uid: string): void;
  /** Closes what is open to the tenant of this UID. */
  close(uid: string): Promise<void>;
}

/** Where and how migrations run. */
export interface Migrations {
  /** Namespace of the operator, where their Jobs are. */
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Image of the Jobs. Throws when it is not known. */
  image(signal: AbortSignal): Promise<string>;
  /** For how long Migrating is shown at least, in milliseconds, unless a tenant says otherwise. */
  readonly minimumHoldMs: number;
}

/** What the phases act through. */
export interface Dependencies {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly migrations: Migrations;
  /** Applies one object of the tenant, which its component label names, and returns what is stored. */
  apply<T extends Resource>(scope: Readonly<Scope>, manifest: Manifest, ctx: Context): Promise<T>;
  /** An object of a tenant as a watch last saw it; undefined when there is none, or none that the watch has seen yet. */
  cached(kind: KindRef, key: Key): Resource | undefined;
  /** False when the cluster is known not to have the kind. */
  isServed(kind: KindRef): boolean;
  /** Applies a component of the tenant that may be unwanted: what the set names no more is deleted. */
  applySet(scope: Readonly<Scope>, set: OwnedSet, ctx: Context): Promise<void>;
  /** The addresses of the management cluster's nodes, not older than a minute. */
  nodeAddresses(signal: AbortSignal): Promise<readonly NodeAddress[]>;
  /** Objects that others made in a namespace, not older than a minute. */
  readonly recentLists: RecentLists;
  /** Who the PodDisruptionBudgets are that others made in a namespace, as far as a watch has told. */
  foreignBudgets(namespace: string): string;
  /** Where the management cluster's own API server is, not older than a minute. */
  managementApi(): Promise<ManagementApi>;
  readonly stores: Pick<StoreAccess, 'open' | 'openTogether'>;
  readonly tenants: TenantAccess;
  /** Chooses DataStores for tenants that name none. */
  readonly placements: Pick<Placements, 'place'>;
  /** DataStore of tenants that neither name nor select one; empty when there is no default. */
  readonly defaultDataStore: string;
  /** All TenantControlPlanes that this process knows of, from a cache. */
  allTenants(): readonly TenantControlPlane[];
  /**
   * Name of the Cluster of Cluster API that a TenantControlPlane is proven to be for, whose author may supply authorities and keys;
   * undefined when it is for none.
   */
  clusterOf(tcp: TenantControlPlane, ctx: Pick<Context, 'signal'>): Promise<string | undefined>;
  /** Image of kine, with tag. */
  readonly kineImage: string;
  /** The last minor of Kubernetes 1 that is hosted. */
  readonly newestMinor: number;
  /** How far authors may go, as administrators say. */
  readonly boundaries: BoundarySettings;
  readonly issuers: IssuerPool;
  readonly memory: Memory;
  /** Passes over the certificate requests of tenants. */
  readonly requests: RequestBook;
  readonly nodePorts: PortRange;
  /** What may be seen of control planes outside their namespaces. */
  readonly reach: Reach;
  /** Certificates with less left are renewed, in milliseconds. */
  readonly renewBeforeMs: number;
}

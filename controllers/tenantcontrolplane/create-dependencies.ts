import { kinds } from '../../api/core/kinds.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { labels, migrationJob } from '../../api/names.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { createIssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import { isAlreadyApplied } from '../../runtime/apply/already-applied.ts';
import { Applier } from '../../runtime/apply/applier.ts';
import type { ApplyMetrics } from '../../runtime/apply/applier.ts';
import { mark } from '../../runtime/apply/apply-marks.ts';
import type { ApplySet } from '../../runtime/apply/apply-set.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { TenantPool } from '../../tenants/pool.ts';
import type { TenantProber } from '../../tenants/prober.ts';
import type { UseMeter } from '../../tenants/use/use-meter.ts';
import type { TenantWatches } from '../../tenants/tenant-watches.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { nodeAddresses } from './endpoint/endpoint.ts';
import type { NodeAddress } from './endpoint/endpoint.ts';
import { ownNamespaceOnly } from './endpoint/reach/reach.ts';
import type { Reach } from './endpoint/reach/reach.ts';
import { defaultNodePorts } from './endpoint/service.ts';
import type { PortRange } from './endpoint/service.ts';
import { fieldManager } from './dependencies.ts';
import type { Dependencies, Migrations, OwnedSet } from './dependencies.ts';
import { freeNames } from './adoption/free-names.ts';
import { foreignBudgetUids } from './workload/external-pdbs.ts';
import { processorsOf, startLimit } from './workload/start-limit.ts';
import { StartQueue } from './workload/start-queue.ts';
import { managementApiOf } from './workload/management-api.ts';
import { recentListsOf } from './shared/ttl-list-cache.ts';
import { addons } from './addons/registry.ts';
import { ReconcileCache } from './shared/reconcile-cache.ts';
import { defaultBoundaries } from './workload/boundaries.ts';
import type { BoundarySettings } from './workload/boundaries.ts';
import { DrainTurns } from './datastore/drain/drain-turns.ts';
import { Placements } from './datastore/placement/placements.ts';
import type { SharedPlacements } from './datastore/placement/placements.ts';
import { needed } from './scope.ts';
import type { Scope } from './scope.ts';
import { tenantAccess } from './tenant/tenant-access.ts';
import { endpointKinds, policyKinds, tenantKinds } from './shared/tenant-kinds.ts';
import { backupUnderWay } from './sleep/backups-of.ts';
import { Waking } from './sleep/waking/waking.ts';
import { flowKinds } from './sleep/use/background-flow-schema.ts';
import { ownedKinds, secretIdentities, watchedJobs, writtenByHand, watchOf } from './watches.ts';

/** Options from the composition root. */
export interface TenantControlPlaneOptions {
  /** The management cluster. */
  readonly cluster: Cluster;
  /** Its informers; those of the controller's watches are shared. */
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  /** The store for everything remembered about single tenants. */
  readonly memory: ObjectMemory;
  readonly stores: Pick<StoreAccess, 'open' | 'openTogether' | 'capabilities'>;
  readonly pool: TenantPool;
  /** DataStore of tenants that neither name nor select one; if it is not set, one is chosen. */
  readonly defaultDataStore?: string;
  /** The only reconciled namespace; all of them by default. */
  readonly namespace?: string;
  /** Image of kine; defaults to the tested one. */
  readonly kineImage?: string;
  /** The newest hosted minor of Kubernetes 1; defaults to the newest tested one. */
  readonly newestMinor?: number;
  /** How many control planes start at once; if it is not set, the processors of the nodes decide. */
  readonly mostStarts?: number;
  /** Who starts now; a queue of its own by default. */
  readonly starts?: StartQueue;
  /** How much authors may do; defaults to `defaultBoundaries`. */
  readonly boundaries?: BoundarySettings;
  /** The management cluster's node ports; 30000 to 32767 by default. */
  readonly nodePorts?: PortRange;
  /** How much control planes may affect outside their namespaces; as little as possible by default. */
  readonly reach?: Reach;
  /** Certificates with less time left are renewed, in milliseconds; at least a day, which is the default. */
  readonly renewBeforeMs?: number;
  readonly metrics?: ApplyMetrics;
  /** Enqueues a TenantControlPlane because something inside it changed. */
  readonly enqueue?: (key: Key) => void;
  /** Deleted TenantControlPlanes whose data is retained for their successors; none by default. */
  readonly retained?: () => readonly TenantControlPlane[];
  /** Reports drift inside tenants; without it, drift is found by a check every quarter of an hour. */
  readonly watches?: TenantWatches;
  /** Measures whether API servers answer; without it, nothing does. */
  readonly prober?: Pick<TenantProber, 'watch' | 'doubt' | 'stop'>;
  /** Reads whether tenants are used that are to sleep when they are not; without it, none of them falls asleep. */
  readonly useMeter?: Pick<UseMeter, 'watch' | 'stop' | 'finding'>;
  /** Finds the Cluster of Cluster API that a TenantControlPlane belongs to; by default there is none. */
  readonly clusterOf?: Dependencies['clusterOf'];
  /** How Prometheus scrapes the components of control planes; by default it does not. */
  readonly monitoring?: Dependencies['monitoring'];
  /** What was measured of tenants with a quota; by default nothing is. */
  readonly measurementOf?: Dependencies['measurementOf'];
  /** Where migrations run; if it is not set, they wait. */
  readonly migrations?: Migrations;
  /** Ends restores; by default there are none. */
  readonly endRestores?: Dependencies['endRestores'];
  /** Where several managers share the tenants; absent for one. */
  readonly shards?: TenantShards | undefined;
}

/** What managers that share tenants decide together. */
export interface TenantShards {
  readonly placements: SharedPlacements;
  /** How many of so many control planes that may start at once may be this manager's. */
  readonly startShare: (limit: number) => number;
}

const noMigrations: Migrations = {
  namespace: '',
  serviceAccount: '',
  minimumHoldMs: 0,
  image: () => Promise.reject(new Error('the manager has no namespace in which to run migrations')),
};

const dayMs = 24 * 60 * 60 * 1000;
const nodesFreshMs = 60_000;

/** What is kept of the nodes. */
interface NodeFacts {
  readonly addresses: readonly NodeAddress[];
  readonly processors: number;
}

/** The addresses and processors of nodes, read at most once a minute, however many tenants need them. */
function cachedNodes(cluster: Cluster, clock: Clock): (signal: AbortSignal) => Promise<NodeFacts> {
  let known: { readonly until: number; readonly nodes: Promise<NodeFacts> } | undefined;
  return (signal) => {
    if (known !== undefined && known.until > clock.monotonic()) return known.nodes;
    const nodes = cluster
      .list(kinds.Node, { resourceVersion: '0', signal })
      .then(({ items }) => ({
        addresses: nodeAddresses(items),
        processors: items.reduce((sum, node) => sum + processorsOf(node), 0),
      }))
      .catch((error: unknown) => {
        known = undefined;
        throw error;
      });
    known = { until: clock.monotonic() + nodesFreshMs, nodes };
    return nodes;
  };
}

type Informers = Pick<InformerFactory, 'informer'>;

/** The informer of one of our watches. It is requested late, so that it does not start too early. */
function informerOf(informers: Informers, kind: KindRef): Informer | undefined {
  const selection = watchOf(kind);
  return selection === undefined ? undefined : informers.informer<Resource>(selection);
}

/** An object as a watch has seen it, unless that watch is interrupted: changes may have been missed then. */
function whileWatched<T extends Resource>(informer: Informer<T>, key: Key): T | undefined {
  return informer.health().failingSince === undefined ? informer.get(key) : undefined;
}

/** Whether the watch of the Jobs of migrations has seen one of this tenant. */
function sawJob(informers: Informers, namespace = '', uid: string): boolean {
  if (namespace === '') return false;
  const informer = informers.informer<Resource>(watchedJobs(namespace));
  return informer.get({ namespace, name: migrationJob(uid) }) !== undefined;
}

/** An object of the tenant's namespace as it was read when the reconcile began. */
function observed(
  { observed: found }: Readonly<Scope>,
  { kind }: Pick<KindRef, 'kind'>,
  { name }: Key,
): Resource | undefined {
  const one = kind === 'Service' ? found.service : kind === 'Deployment' ? found.deployment : undefined;
  if (kind === 'Secret') return found.secrets.get(name);
  return one?.metadata.name === name ? one : undefined;
}

/** All dependencies of the phases, built from the options of the composition root. */
export function createDependencies(options: TenantControlPlaneOptions): Dependencies {
  const { cluster, clock, informers, stores, pool, metrics } = options;
  const memory = new ReconcileCache(options.memory);
  const lookup = (kind: KindRef, key: Key): Resource | undefined => informerOf(informers, kind)?.get(key);
  const { defaultDataStore = '', namespace = '' } = options;
  const nodes = cachedNodes(cluster, clock);
  const starts = options.starts ?? new StartQueue({ clock, memory: options.memory, enqueue: options.enqueue });
  const allTenants = (): readonly TenantControlPlane[] => [
    ...informers.informer({ kind: tenantControlPlane }).list(),
    ...(options.retained?.() ?? []),
  ];
  const placements = new Placements({
    ...{ cluster, informers, allTenants, memory: options.memory },
    ...{ defaultDataStore, namespace, stores, shared: options.shards?.placements },
  });
  const drainTurns = new DrainTurns({
    ...{ clock, memory: options.memory, defaultDataStore, enqueue: options.enqueue },
    isShared: options.shards !== undefined,
    tenants: () => informers.informer({ kind: tenantControlPlane }).list(),
  });
  const kindOf = new Map(ownedKinds.map(({ kind }) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]));
  const cached = ({ apiVersion, kind, metadata: { namespace, name } }: Manifest): Resource | undefined => {
    const ref = kindOf.get(`${apiVersion} ${kind}`);
    return ref === undefined || namespace === undefined ? undefined : lookup(ref, { namespace, name });
  };
  const marking = { by: 'ownerReference', componentLabel: labels.component } as const;
  const setOf = ({ tcp }: Readonly<Scope>, manifest: Manifest): ApplySet => {
    const component = manifest.metadata.labels?.[labels.component] ?? '';
    return { owner: tcp, component, manifests: [manifest], prunes: [] };
  };
  const applier = new Applier({
    ...{ cluster, fieldManager, marking },
    kinds: ownedKinds.map(({ kind }) => kind),
    memory: options.memory.slot('applied for tenants'),
    writtenByHand: new Set(writtenByHand.map(({ kind }) => kind)),
    lookup,
    metrics,
    // CAs and keys: what the former manager of a tenant still has under way must not replace them.
    ...(options.shards !== undefined && { fenced: new Set([kinds.Secret.kind]) }),
  });
  const readBy = (scope: Readonly<Scope>) => (kind: KindRef, key: Key) => observed(scope, kind, key);
  const allSecrets = (): Informer => informers.informer<Resource>(secretIdentities);
  const applyCall = (scope: Readonly<Scope>, { firstVersion, signal }: Context) => ({
    ...{ signal, live: readBy(scope) },
    ...(firstVersion !== undefined && { isFree: freeNames(scope, firstVersion, allSecrets()) }),
  });
  const tenants = tenantAccess({
    pool,
    kinds: [
      ...new Set([
        ...tenantKinds,
        ...policyKinds,
        ...endpointKinds,
        ...flowKinds,
        ...addons.flatMap(({ inside }) => inside.kinds),
      ]),
    ],
    clock,
    memory: options.memory,
    enqueue: options.enqueue,
    watches: options.watches,
    prober: options.prober,
    useMeter: options.useMeter,
    management: cluster,
  });
  return {
    cluster,
    clock,
    migrations: options.migrations ?? noMigrations,
    endRestores: options.endRestores ?? (() => Promise.resolve([])),
    backupUnderWay: (tenant) => backupUnderWay(informers, tenant),
    clusterOf: options.clusterOf ?? (() => Promise.resolve(undefined)),
    stores,
    tenants,
    memory,
    addons,
    newestMinor: options.newestMinor ?? newestMinor,
    boundaries: options.boundaries ?? defaultBoundaries,
    issuers: createIssuerPool(4),
    nodeAddresses: async (signal) => (await nodes(signal)).addresses,
    startTurn: async (tcp, signal, isCalled) => {
      const most = options.mostStarts ?? 0;
      const limit = most > 0 ? most : startLimit((await nodes(signal)).processors);
      return starts.take(tcp, options.shards?.startShare(limit) ?? limit, isCalled);
    },
    startEnded: (uid) => {
      starts.ended(uid);
    },
    managementApi: managementApiOf(cluster, clock),
    recentLists: recentListsOf(cluster, clock),
    foreignBudgets: (among) => foreignBudgetUids(informers, among),
    nodePorts: options.nodePorts ?? defaultNodePorts,
    reach: options.reach ?? ownNamespaceOnly,
    renewBeforeMs: Math.max(options.renewBeforeMs ?? dayMs, dayMs),
    placements,
    drainTurns,
    seesMigrationJob: (uid) => sawJob(informers, options.migrations?.namespace, uid),
    cachedStore: (name) => informers.informer({ kind: dataStore }).get({ name }),
    recentStore: (name) => whileWatched(informers.informer({ kind: dataStore }), { name }),
    defaultDataStore,
    allTenants,
    waking: new Waking({ cluster, informers, clock, namespace: options.migrations?.namespace ?? '' }),
    useOf: (uid) => options.useMeter?.finding(uid),
    measurementOf: options.measurementOf ?? (() => ({})),
    monitoring: options.monitoring,
    kineImage: options.kineImage ?? 'rancher/kine:v0.16.4',
    async apply<T extends Resource>(scope: Readonly<Scope>, manifest: Manifest, ctx: Context): Promise<T> {
      const { applied, found } = await applier.apply(setOf(scope, manifest), applyCall(scope, ctx));
      // Nothing was sent: the object is as the reconcile found it.
      const before = (): Resource | undefined => observed(scope, manifest, manifest.metadata) ?? cached(manifest);
      return (applied[0] ?? found[0] ?? needed(before(), manifest.kind)) as T;
    },
    isApplied(scope: Readonly<Scope>, manifest: Manifest): boolean {
      const found = observed(scope, manifest, manifest.metadata);
      return (
        found !== undefined && isAlreadyApplied(found, mark(manifest, setOf(scope, manifest), marking), fieldManager)
      );
    },
    recent<T extends Resource>(tcp: TenantControlPlane, kind: KindRef<T>, key: Key): T | undefined {
      const selection = watchOf(kind);
      if (selection === undefined || selection.metadataOnly === true) return undefined;
      const found = whileWatched(informers.informer<T>({ ...selection, kind }), key);
      return found !== undefined && applier.isNotBehind(tcp.metadata.uid, found) ? found : undefined;
    },
    cached: lookup,
    isServed: (kind) => informerOf(informers, kind)?.health().absent !== true,
    async applySet(scope: Readonly<Scope>, set: OwnedSet, ctx: Context): Promise<void> {
      await applier.apply({ owner: scope.tcp, ...set }, applyCall(scope, ctx));
    },
  };
}

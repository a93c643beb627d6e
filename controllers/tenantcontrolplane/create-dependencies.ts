import { kinds } from '../../api/core/kinds.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { createIssuerPool } from '../../kubeadm/pki/issuer-pool.ts';
import { Applier } from '../../runtime/applier.ts';
import type { ApplyMetrics } from '../../runtime/applier.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { Context } from '../../runtime/controller.ts';
import type { Informer } from '../../runtime/informer.ts';
import type { InformerFactory } from '../../runtime/informer-factory.ts';
import type { ObjectMemory } from '../../runtime/object-memory.ts';
import type { StoreAccess } from '../../stores/store-access.ts';
import type { TenantPool } from '../../tenants/pool.ts';
import type { TenantWatches } from '../../tenants/tenant-watches.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { nodeAddresses } from './components/endpoint.ts';
import type { NodeAddress } from './components/endpoint.ts';
import { ownNamespaceOnly } from './components/reach/reach.ts';
import type { Reach } from './components/reach/reach.ts';
import { defaultNodePorts } from './components/service.ts';
import type { PortRange } from './components/service.ts';
import { fieldManager } from './dependencies.ts';
import type { Dependencies, Migrations, OwnedSet } from './dependencies.ts';
import { foreignBudgetUids } from './foreign-budgets.ts';
import { managementApiOf } from './management-api.ts';
import { recentListsOf } from './recent-lists.ts';
import { RequestBook } from './request-book.ts';
import { Memory } from './memory.ts';
import { defaultBoundaries } from './validation/boundaries.ts';
import type { BoundarySettings } from './validation/boundaries.ts';
import { Placements } from './placements.ts';
import { needed } from './scope.ts';
import type { Scope } from './scope.ts';
import { tenantDoors } from './tenant-doors.ts';
import { endpointKinds, policyKinds, tenantKinds } from './tenant-kinds.ts';
import { ownedKinds, writtenByHand, watchOf } from './watches.ts';

/** What the composition root gives. */
export interface TenantControlPlaneOptions {
  /** The management cluster. */
  readonly cluster: Cluster;
  /** Its informers; those of the controller's watches are shared. */
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  /** Where everything is remembered that is about one tenant. */
  readonly memory: ObjectMemory;
  readonly stores: Pick<StoreAccess, 'open' | 'openTogether'>;
  readonly pool: TenantPool;
  /** DataStore of tenants that neither name nor select one; when there is none, one is chosen. */
  readonly defaultDataStore?: string;
  /** The only namespace that is looked after; all of them unless said. */
  readonly namespace?: string;
  /** Image of kine; the one that is tested unless said. */
  readonly kineImage?: string;
  /** The last minor of Kubernetes 1 that is hosted; the newest that is tested unless said. */
  readonly newestMinor?: number;
  /** How far authors may go; `defaultBoundaries` unless said. */
  readonly boundaries?: BoundarySettings;
  /** The management cluster's node ports; 30000 to 32767 unless said. */
  readonly nodePorts?: PortRange;
  /** What may be seen of control planes outside their namespaces; as little as possible unless said. */
  readonly reach?: Reach;
  /** Certificates with less left are renewed, in milliseconds; a day unless said, and never less. */
  readonly renewBeforeMs?: number;
  readonly metrics?: ApplyMetrics;
  /** Asks for a visit to a TenantControlPlane because of something new inside it. */
  readonly poke?: (key: Key) => void;
  /** TenantControlPlanes that are gone and whose data is kept for the next ones; none unless said. */
  readonly kept?: () => readonly TenantControlPlane[];
  /** Hears foreign edits inside tenants; without it they are found by looking again every quarter of an hour. */
  readonly watches?: TenantWatches;
  /** Finds the Cluster of Cluster API that a TenantControlPlane is for; unless said there is none. */
  readonly clusterOf?: Dependencies['clusterOf'];
  /** Where migrations run; nowhere unless said: then they wait. */
  readonly migrations?: Migrations;
}

const noMigrations: Migrations = {
  namespace: '',
  serviceAccount: '',
  minimumHoldMs: 0,
  image: () => Promise.reject(new Error('the operator was not told where migrations run')),
};

const dayMs = 24 * 60 * 60 * 1000;
const nodesFreshMs = 60_000;

/** The addresses of nodes, read at most once a minute, however many tenants ask. */
function cachedNodes(cluster: Cluster, clock: Clock): Dependencies['nodeAddresses'] {
  let known: { readonly until: number; readonly nodes: Promise<readonly NodeAddress[]> } | undefined;
  return (signal) => {
    if (known !== undefined && known.until > clock.monotonic()) return known.nodes;
    const nodes = cluster
      .list(kinds.Node, { resourceVersion: '0', signal })
      .then(({ items }) => nodeAddresses(items))
      .catch((error: unknown) => {
        known = undefined;
        throw error;
      });
    known = { until: clock.monotonic() + nodesFreshMs, nodes };
    return nodes;
  };
}

type Informers = Pick<InformerFactory, 'informer'>;

/** The informer of a watch of ours. It is asked for late, so that nothing is followed before its time. */
function informerOf(informers: Informers, kind: KindRef): Informer | undefined {
  const selection = watchOf(kind);
  return selection === undefined ? undefined : informers.informer<Resource>(selection);
}

/** The object as it was read when the visit began. */
function observed({ observed: found }: Readonly<Scope>, { kind, metadata }: Manifest): Resource | undefined {
  if (kind === 'Service') return found.service;
  if (kind === 'Deployment') return found.deployment;
  return kind === 'Secret' ? found.secrets.get(metadata.name) : undefined;
}

/** Everything that the phases act through, from what the composition root has. */
export function createDependencies(options: TenantControlPlaneOptions): Dependencies {
  const { cluster, clock, informers, stores, pool, metrics } = options;
  const memory = new Memory(options.memory);
  const requests = new RequestBook(options.memory);
  const lookup = (kind: KindRef, key: Key): Resource | undefined => informerOf(informers, kind)?.get(key);
  const { defaultDataStore = '', namespace = '' } = options;
  const placements = new Placements({
    ...{ cluster, informers, memory: options.memory },
    ...{ defaultDataStore, namespace },
  });
  const kindOf = new Map(ownedKinds.map(({ kind }) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]));
  const cached = ({ apiVersion, kind, metadata: { namespace, name } }: Manifest): Resource | undefined => {
    const ref = kindOf.get(`${apiVersion} ${kind}`);
    return ref === undefined || namespace === undefined ? undefined : lookup(ref, { namespace, name });
  };
  const applier = new Applier({
    cluster,
    fieldManager,
    marking: { by: 'ownerReference', componentLabel: labels.component },
    kinds: ownedKinds.map(({ kind }) => kind),
    memory: options.memory.slot('applied for tenants'),
    writtenByHand: new Set(writtenByHand.map(({ kind }) => kind)),
    lookup,
    ...(metrics !== undefined && { metrics }),
  });
  const tenants = tenantDoors({
    pool,
    kinds: [...tenantKinds, ...policyKinds, ...endpointKinds, kinds.Secret],
    clock,
    memory: options.memory,
    ...(options.poke !== undefined && { poke: options.poke }),
    ...(options.watches !== undefined && { watches: options.watches }),
  });
  return {
    cluster,
    clock,
    migrations: options.migrations ?? noMigrations,
    clusterOf: options.clusterOf ?? (() => Promise.resolve(undefined)),
    stores,
    tenants,
    memory,
    requests,
    newestMinor: options.newestMinor ?? newestMinor,
    boundaries: options.boundaries ?? defaultBoundaries,
    issuers: createIssuerPool(4),
    nodeAddresses: cachedNodes(cluster, clock),
    managementApi: managementApiOf(cluster, clock),
    recentLists: recentListsOf(cluster, clock),
    foreignBudgets: (among) => foreignBudgetUids(informers, among),
    nodePorts: options.nodePorts ?? defaultNodePorts,
    reach: options.reach ?? ownNamespaceOnly,
    renewBeforeMs: Math.max(options.renewBeforeMs ?? dayMs, dayMs),
    placements,
    defaultDataStore,
    allTenants: () => [...informers.informer({ kind: tenantControlPlane }).list(), ...(options.kept?.() ?? [])],
    kineImage: options.kineImage ?? 'rancher/kine:v0.16.4',
    async apply<T extends Resource>(scope: Readonly<Scope>, manifest: Manifest, ctx: Context): Promise<T> {
      const component = manifest.metadata.labels?.[labels.component] ?? '';
      const set = { owner: scope.tcp, component, manifests: [manifest], prunes: [] };
      const { applied } = await applier.apply(set, { signal: ctx.signal });
      // Nothing was sent: the object is as the visit found it.
      return (applied[0] ?? needed(observed(scope, manifest) ?? cached(manifest), manifest.kind)) as T;
    },
    cached: lookup,
    isServed: (kind) => informerOf(informers, kind)?.health().absent !== true,
    async applySet(scope: Readonly<Scope>, set: OwnedSet, ctx: Context): Promise<void> {
      await applier.apply({ owner: scope.tcp, ...set }, { signal: ctx.signal });
    },
  };
}

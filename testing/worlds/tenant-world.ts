import type { ConfigMap, Deployment, Secret } from '../../api/core/kinds.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, PolicyRule, Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import { tenantControlPlaneController } from '../../controllers/tenantcontrolplane/controller.ts';
import { access, operatorNamespaceAccess } from '../../controllers/tenantcontrolplane/access.ts';
import type { TenantControlPlaneOptions } from '../../controllers/tenantcontrolplane/create-dependencies.ts';
import { ownedKinds } from '../../controllers/tenantcontrolplane/watches.ts';
import type { Reach } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import type { Migrations } from '../../controllers/tenantcontrolplane/dependencies.ts';
import type { DataMeasurement } from '../../controllers/tenantcontrolplane/quota/data-measurement.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Reconciler } from '../../runtime/reconcile/reconciler.ts';
import type { ReconcileOutcome } from '../../runtime/reconcile/reconciler.ts';
import type { Driver } from '../../stores/driver.ts';
import { BackupProcesses } from '../../stores/backup/process/processes.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { TenantPool } from '../../tenants/pool.ts';
import type { TenantWatches } from '../../tenants/tenant-watches.ts';
import { UseMeter } from '../../tenants/use/use-meter.ts';
import type { TenantPoolOptions } from '../../tenants/pool.ts';
import { emptyInformers } from '../fake/empty-informers.ts';
import { FakeClock } from '../fake/fake-clock.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import { managementApi, seedManagementApi } from './management-api.ts';
import { MemoryStore } from '../fake/memory-driver.ts';
import { isFields } from '../fake/stored-object.ts';
import type { StoredObject } from '../fake/stored-object.ts';
import { tenantControlPlaneWith } from '../builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../builders/tenant-control-plane.ts';
import { worldReconciler } from './world-reconciler.ts';
import { verifiedIsolation } from '../builders/verified-isolation.ts';

/** The owner of the finalizers would write this; Events do not matter here. */
const key = { namespace: 'default', name: 'tenant' };

/** What the tenant's API server says of resources of the core group that tests encrypt. */
const encryptable = [kinds.Secret, kinds.ConfigMap].map(({ plural: name, kind, namespaced }) => ({
  name,
  kind,
  namespaced,
}));

/** The kinds of what the controller writes. */
const written: readonly KindRef[] = [...ownedKinds.map(({ kind }) => kind), tenantControlPlane];

/** What a list of a kind is that the cluster does not have. */
export function noneIfAbsent(error: unknown): { readonly items: readonly never[] } {
  if (error instanceof ApiError && error.code === 404) return { items: [] };
  throw error;
}

/** Gives NodePort Services a port, as the API server does. */
function allocateNodePorts(kind: KindRef, object: StoredObject): StoredObject {
  if (kind.kind !== 'Service' || !isFields(object.spec) || object.spec.type !== 'NodePort') return object;
  const ports = Array.isArray(object.spec.ports) ? (object.spec.ports as unknown[]).filter(isFields) : [];
  return { ...object, spec: { ...object.spec, ports: ports.map((port) => ({ nodePort: 31234, ...port })) } };
}

/** Gives TenantControlPlanes the defaults of their schema, too. */
function defaultTenants(kind: KindRef, object: StoredObject): StoredObject {
  if (kind.kind !== tenantControlPlane.kind) return allocateNodePorts(kind, object);
  const spec = applyDefaults(tenantControlPlane.spec.openapi, object.spec);
  return { ...object, spec };
}

/** A management cluster in memory with one tenant, its store and the tenant's own API server. */
export class TenantWorld {
  readonly clock: FakeClock;
  readonly cluster: FakeCluster;
  readonly tenant = new FakeCluster({
    now: () => this.clock.now().getTime(),
    texts: {
      '/metrics': () => this.metrics,
      '/api/v1/nodes': (path) => this.nodePage(path),
      '/api/v1': JSON.stringify({ kind: 'APIResourceList', resources: encryptable }),
    },
  });
  readonly store: MemoryStore;
  readonly events: string[] = [];
  /** What the tenant's API server reports about itself. */
  metrics = '';
  /** The versions of its nodes' kubelets; the nodes are named after their place here. */
  kubelets: readonly string[] = [];
  /** How often something new in the tenant enqueued it. */
  enqueued = 0;
  /** The Cluster of Cluster API that the tenant is for. */
  clusterName: string | undefined;
  /** Called when something in the tenant enqueues it. */
  onEnqueue: () => void = () => undefined;
  /** How Prometheus scrapes control planes, from the next process on. */
  monitoring: TenantControlPlaneOptions['monitoring'];
  /** What a meter says of the tenant's data. */
  measurement: DataMeasurement = {};
  /** Whether pods become ready as soon as the Deployment wants them. */
  podsStart = true;
  #reconciler: Reconciler;
  readonly #drivers: readonly Driver[];
  readonly #migrations: Migrations | undefined;
  readonly #reach: Reach | undefined;
  readonly #openTenant: TenantPoolOptions['open'];
  readonly #starts: Pick<TenantControlPlaneOptions, 'starts' | 'mostStarts'>;
  readonly #listen: ((world: TenantWorld) => TenantWatches) | undefined;
  #watches: TenantWatches | undefined;
  readonly #prober: TenantControlPlaneOptions['prober'];
  readonly #readsUse: boolean;
  #useMeter: UseMeter | undefined;
  readonly #informers: Pick<InformerFactory, 'informer'>;

  constructor(
    options: {
      readonly informers?: (world: TenantWorld) => Pick<InformerFactory, 'informer'>;
      /** A store that tenants reach through kine, with a password. */
      readonly kine?: boolean;
      /** Stores of other drivers. */
      readonly others?: readonly MemoryStore[];
      readonly migrations?: Migrations;
      /** What may be seen of the tenant outside its namespace. */
      readonly reach?: Reach;
      /** The start of the clock; 2030 by default. */
      readonly start?: Date;
      /** What others who work in the management cluster may do there; TenantControlPlanes get their defaults then. */
      readonly beside?: readonly PolicyRule[];
      /** Opens the client of the tenant; by default of the API server in memory. */
      readonly openTenant?: TenantPoolOptions['open'];
      /** Who else starts pods, and how many may at once; without a limit by default. */
      readonly starts?: Pick<TenantControlPlaneOptions, 'starts' | 'mostStarts'>;
      /** Watches drift inside the tenant; by default nothing does. */
      readonly watches?: (world: TenantWorld) => TenantWatches;
      /** Hears where the tenant is to be probed; by default nobody does. */
      readonly prober?: TenantControlPlaneOptions['prober'];
      /** Reads whether the tenant is used, from what `metrics` says; by default nothing does. */
      readonly readsUse?: boolean;
    } = {},
  ) {
    this.clock = new FakeClock(options.start);
    this.store = new MemoryStore({ kine: options.kine === true });
    this.#migrations = options.migrations;
    this.#reach = options.reach;
    this.#starts = options.starts ?? {};
    this.#listen = options.watches;
    this.#prober = options.prober;
    this.#readsUse = options.readsUse === true;
    this.#openTenant = options.openTenant ?? this.tenant.open;
    this.#drivers = [this.store, ...(options.others ?? [])].map(({ driver }) => driver);
    const { beside = [] } = options;
    const own = options.migrations === undefined ? access : [...access, ...operatorNamespaceAccess];
    const admit = beside.length === 0 ? allocateNodePorts : defaultTenants;
    this.cluster = new FakeCluster({ access: [...own, ...beside], now: () => this.clock.now().getTime(), admit });
    this.cluster.after(async (call) => {
      if (call.kind?.kind === 'Deployment' && call.verb === 'apply' && this.podsStart) await this.startPods();
    });
    this.#informers = options.informers?.(this) ?? emptyInformers;
    this.#reconciler = this.#newReconciler();
  }

  /** A page of the tenant's nodes. */
  nodePage(path: string): string {
    const { searchParams } = new URL(path, 'https://tenant');
    const from = Number(searchParams.get('continue') ?? 0);
    const to = from + Number(searchParams.get('limit') ?? this.kubelets.length);
    const items = this.kubelets.slice(from, to).map((kubeletVersion, index) => ({
      metadata: { name: `node-${from + index}` },
      status: { nodeInfo: { kubeletVersion } },
    }));
    const metadata = to < this.kubelets.length ? { continue: String(to) } : {};
    return JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', metadata, items });
  }

  /** A new process: nothing is remembered. */
  restart(): void {
    this.cluster.restart();
    this.tenant.restart();
    this.#reconciler = this.#newReconciler();
  }

  /**
   * Makes this one, in which nothing has happened yet, hold what another one holds: both clusters, the stores, what pods tell, and the time.
   * Its manager is a new process.
   */
  async copyFrom(other: this): Promise<void> {
    await this.clock.advance(other.clock.now().getTime() - this.clock.now().getTime());
    this.cluster.copyFrom(other.cluster);
    this.tenant.copyFrom(other.tenant);
    this.store.copyFrom(other.store);
    this.metrics = other.metrics;
    this.kubelets = other.kubelets;
    this.clusterName = other.clusterName;
    this.podsStart = other.podsStart;
  }

  /** Stores the DataStore and a TenantControlPlane. */
  async create(changes: TenantControlPlaneChanges = {}): Promise<TenantControlPlane> {
    await this.cluster.seed(dataStore, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name: 'default' },
      spec: { driver: this.store.driver.name, endpoints: ['etcd:2379'] },
      status: { conditions: [verifiedIsolation] },
    });
    if ((await this.cluster.admin.get(kinds.EndpointSlice, managementApi)) === undefined)
      await seedManagementApi(this.cluster, ['192.0.2.250']);
    const { metadata, ...rest } = tenantControlPlaneWith(changes);
    const { name, namespace, labels, annotations } = metadata;
    return this.cluster.seed(tenantControlPlane, {
      ...rest,
      metadata: { name, namespace, labels, annotations },
    });
  }

  /** Stores a DataStore with the first one's driver; `endpoint` is its name by default. */
  async addStoreBeside(name: string, endpoint = `${name}:2379`): Promise<MemoryStore> {
    await this.cluster.seed(dataStore, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name },
      spec: { driver: this.store.driver.name, endpoints: [endpoint] },
      status: { conditions: [verifiedIsolation] },
    });
    return endpoint === 'etcd:2379' ? this.store : this.store.beside(endpoint);
  }

  /** The TenantControlPlane as it is stored. */
  async read(): Promise<TenantControlPlane> {
    const found = await this.cluster.admin.get(tenantControlPlane, key);
    if (found === undefined) throw new Error('the TenantControlPlane is gone');
    return found;
  }

  async exists(): Promise<boolean> {
    return (await this.cluster.admin.get(tenantControlPlane, key)) !== undefined;
  }

  /** One reconcile of the controller. Rejects for a mistake of the code, which the product would only report. */
  async reconcile(): Promise<ReconcileOutcome> {
    const found = await this.cluster.admin.get(tenantControlPlane, key);
    if (found === undefined) return {};
    const outcome = await this.#reconciler.reconcile(found, silent);
    if (outcome.error instanceof TypeError || outcome.error instanceof ReferenceError) throw outcome.error;
    return outcome;
  }

  /** Reconciles until one writes nothing anymore. */
  async settle(): Promise<ReconcileOutcome> {
    for (let reconciles = 0; reconciles < 20; reconciles += 1) {
      const before = await this.writes();
      const end = await this.reconcile();
      if ((await this.writes()) === before) return end;
    }
    throw new Error('the controller does not come to rest');
  }

  /** Changes the spec or metadata as a person does. */
  async change(body: unknown): Promise<void> {
    await this.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body });
  }

  /** What the Deployment's controller and the kubelets would report. */
  async startPods(): Promise<void> {
    const found = await this.cluster.admin.get(kinds.Deployment, key);
    if (found === undefined) return;
    const count = found.spec?.replicas ?? 0;
    await this.reportPods({ replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count });
  }

  async reportPods(counts: Partial<NonNullable<Deployment['status']>>): Promise<void> {
    const found = await this.cluster.admin.get(kinds.Deployment, key);
    const status = { observedGeneration: found?.metadata.generation, unavailableReplicas: null, ...counts };
    await this.cluster.admin.patch(
      kinds.Deployment,
      key,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  }

  secret(suffix: string): Promise<Secret | undefined> {
    return this.cluster.admin.get(kinds.Secret, { namespace: 'default', name: `tenant-${suffix}` });
  }

  configMap(suffix: string): Promise<ConfigMap | undefined> {
    return this.cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name: `tenant-${suffix}` });
  }

  deployment(): Promise<Deployment | undefined> {
    return this.cluster.admin.get(kinds.Deployment, key);
  }

  /** The status and message of a condition, as `True`, or `False Reason: message`. */
  async condition(type: string): Promise<string> {
    const found = (await this.read()).status?.conditions?.find((condition) => condition.type === type);
    if (found === undefined) return 'absent';
    return found.status === 'True' ? 'True' : `${found.status} ${found.reason}: ${found.message}`;
  }

  async state(): Promise<string | undefined> {
    return (await this.read()).status?.kubernetesResources?.version?.status;
  }

  /** Every object of the management cluster but its own Service, by kind and name, with its version. */
  async writes(): Promise<string> {
    const all = await Promise.all(
      written.map(async (kind) => {
        const { items } = await this.cluster.admin.list<Resource>(kind).catch(noneIfAbsent);
        const ours = items.filter(({ metadata }) => metadata.name !== 'kubernetes');
        return ours.map(({ metadata }) => `${kind.kind}/${metadata.name}@${metadata.resourceVersion}`);
      }),
    );
    return all.flat().sort().join('\n');
  }

  /** The way of a new process to the stores. */
  openStores(): StoreAccess {
    return new StoreAccess({
      drivers: this.#drivers,
      sessions: new Sessions({ clock: this.clock }),
      read: secretReader((secret) => this.cluster.get(kinds.Secret, secret)),
    });
  }

  #processes(): BackupProcesses {
    const image = (): Promise<string> => Promise.resolve('steward:test');
    const nothing = { claims: new Set<string>(), buckets: new Set<string>() };
    const namespace = this.#migrations?.namespace ?? '';
    return new BackupProcesses({ cluster: this.cluster, namespace, image, ...nothing });
  }

  #newReconciler(): Reconciler {
    const { cluster, clock } = this;
    this.#watches?.close();
    this.#watches = this.#listen?.(this);
    this.#useMeter?.close();
    this.#useMeter = this.#readsUse
      ? new UseMeter({ clock, log: silent, memory: new ObjectMemory(), random: () => 0 })
      : undefined;
    const controller = tenantControlPlaneController({
      memory: new ObjectMemory(),
      cluster,
      clock,
      informers: this.#informers,
      stores: this.openStores(),
      pool: new TenantPool({ memory: new ObjectMemory(), clock, open: this.#openTenant }),
      enqueue: () => {
        this.enqueued += 1;
        this.onEnqueue();
      },
      watches: this.#watches,
      prober: this.#prober,
      useMeter: this.#useMeter,
      ...this.#starts,
      reach: this.#reach,
      measurementOf: () => this.measurement,
      monitoring: this.monitoring,
      migrations: this.#migrations,
      // Both need rights in the manager's namespace.
      ...(this.#migrations !== undefined && {
        endRestores: (tenant, signal) => this.#processes().endRestores(tenant, signal),
      }),
      clusterOf: () => Promise.resolve(this.clusterName),
    });
    return worldReconciler(controller, { cluster, clock, events: this.events });
  }
}

import { setTimeout as pause } from 'node:timers/promises';

import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { Key, Manifest } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type {
  TenantControlPlane,
  TenantControlPlaneSpecInput,
} from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kubernetesReleases } from '../../../e2e/tools/kubernetes-releases.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { isTrue } from '../../../runtime/reconcile/conditions.ts';
import { startEtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import { realNamespace } from '../stand-in/real-tenant.ts';
import { StandInProcess } from '../stand-in/stand-in-process.ts';
import { buildManager, managerKubeconfig } from './scale-manager.ts';
import type { ManagerProgram } from './scale-manager.ts';
import { startScaleManagement } from './scale-management.ts';
import type { ScaleManagement } from './scale-management.ts';
import { ScaleManagers } from './scale-managers.ts';

/** The DataStores of the fleet: nearly all tenants use the first. */
export const stores = ['default', 'few'] as const;
export type StoreName = (typeof stores)[number];

/**
 * What a tenant is: one as usual, one of the smaller DataStore, or one that is compared, with a real API server or with the stand-in. The
 * latter two keep the endpoints of their Service `kubernetes` themselves: a real API server takes no loopback address from Steward.
 */
export type TenantKind = 'usual' | 'few' | 'real' | 'compared';

const perNamespace = 50;
/** Ends what hangs, and is no measure of speed; milliseconds. */
const patience = (tenants: number): number => 120_000 + 3_000 * tenants;
const version = kubernetesReleases[0].version;

/** Tenants of a real management cluster and real etcds, whose API servers are a stand-in. Everything ends with this process. */
export class ScaleFleet implements AsyncDisposable {
  readonly manager: ScaleManagers;
  readonly program: ManagerProgram;
  readonly standIn: StandInProcess;
  readonly admin: Cluster;
  readonly management: ScaleManagement;
  readonly stores: Readonly<Record<StoreName, EtcdDataStore>>;
  readonly #informers: InformerFactory;
  readonly #started: AsyncDisposableStack;
  #made = 0;
  readonly #namespaces = new Set<string>();

  private constructor(
    parts: Pick<ScaleFleet, 'manager' | 'program' | 'standIn' | 'admin' | 'management' | 'stores'>,
    informers: InformerFactory,
    started: AsyncDisposableStack,
  ) {
    this.manager = parts.manager;
    this.program = parts.program;
    this.standIn = parts.standIn;
    this.admin = parts.admin;
    this.management = parts.management;
    this.stores = parts.stores;
    this.#informers = informers;
    this.#started = started;
  }

  /** Starts everything, with no tenant, and with so many managers that share them. */
  static async start(progress: (step: string) => void, managers = 1): Promise<ScaleFleet> {
    await using started = new AsyncDisposableStack();
    progress('management cluster');
    const management = started.use(await startScaleManagement());
    const { server, folder } = management;
    const all = {
      default: started.use(await startEtcdDataStore()),
      few: started.use(await startEtcdDataStore()),
    };
    const options = { name: 'management', connections: 50, timeoutMs: 300_000 };
    const admin = openCluster(parseKubeconfig(server.kubeconfig), options);
    started.defer(() => admin.close());
    const informers = new InformerFactory({ cluster: admin });
    started.defer(() => informers.close());
    informers.informer({ kind: tenantControlPlane });
    informers.informer({ kind: kinds.Deployment, labelSelector: labels.name });
    await informers.synced();
    const standIn = started.use(await StandInProcess.start(server.kubeconfigPath));
    progress('manager');
    const program = await buildManager(folder);
    const manager = started.use(await ScaleManagers.of(program, await managerKubeconfig(server), managers));
    await manager.start();
    const parts = { manager, program, standIn, admin, management, stores: all };
    const fleet = new ScaleFleet(parts, informers, started.move());
    try {
      await fleet.#addStores();
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    return fleet;
  }

  get tenants(): Informer<TenantControlPlane> {
    return this.#informers.informer({ kind: tenantControlPlane });
  }

  get deployments(): Informer<Deployment> {
    return this.#informers.informer({ kind: kinds.Deployment, labelSelector: labels.name });
  }

  /** Namespaces in which tenants are or were. */
  get namespaces(): readonly string[] {
    return [...this.#namespaces];
  }

  /**
   * Creates so many tenants at once, by one request each. How long each took to be Ready since the first request, in milliseconds,
   * ascending.
   */
  async create(count: number, kind: TenantKind = 'usual'): Promise<readonly number[]> {
    const keys = Array.from({ length: count }, () => this.nextKey(kind));
    await this.#ensureNamespaces(keys);
    const waiting = new Set(keys.map(idOf));
    const times: number[] = [];
    const since = performance.now();
    const allReady = Promise.withResolvers<undefined>();
    const unsubscribe = this.tenants.subscribe((_old, now) => {
      if (now === undefined || !isReady(now) || !waiting.delete(idOf(now.metadata))) return;
      times.push(Math.round(performance.now() - since));
      if (waiting.size === 0) allReady.resolve(undefined);
    });
    try {
      await Promise.all(keys.map((key) => this.admin.create(tenantControlPlane, tenantAt(key, kind))));
      await within(allReady.promise, patience(count), () => `${waiting.size} of ${count} tenants are not Ready`);
    } finally {
      unsubscribe();
    }
    return times;
  }

  /** Creates one, and waits for nothing. */
  async request(key: Key, kind: TenantKind = 'usual'): Promise<void> {
    await this.#ensureNamespaces([key]);
    await this.admin.create(tenantControlPlane, tenantAt(key, kind));
  }

  /** Deletes all tenants at once, by one request each. How long until the last has gone, in milliseconds. */
  async deleteAll(): Promise<number> {
    const keys = this.tenants.list().map(keyOf);
    const waiting = new Set(keys.map(idOf));
    const allGone = Promise.withResolvers<undefined>();
    const since = performance.now();
    const unsubscribe = this.tenants.subscribe((old, now) => {
      if (now === undefined && old !== undefined) waiting.delete(idOf(old.metadata));
      if (waiting.size === 0) allGone.resolve(undefined);
    });
    try {
      await Promise.all(keys.map((key) => this.admin.delete(tenantControlPlane, key)));
      if (waiting.size === 0) allGone.resolve(undefined);
      await within(allGone.promise, patience(keys.length), () => `${waiting.size} tenants have not gone`);
    } finally {
      unsubscribe();
    }
    return Math.round(performance.now() - since);
  }

  /** Changes the flags of these tenants' API servers, so that their pods roll; resolves when the API server has all changes. */
  async roll(keys: readonly Key[], inflight: number): Promise<void> {
    const body = {
      spec: { controlPlane: { deployment: { extraArgs: { apiServer: [`--max-requests-inflight=${inflight}`] } } } },
    };
    await Promise.all(keys.map((key) => this.admin.patch(tenantControlPlane, key, { type: 'merge', body })));
  }

  /** Resolves when the Deployments of these tenants have what `roll` asked for and their pods are ready again. */
  async rolled(keys: readonly Key[], inflight: number): Promise<void> {
    const waiting = new Set(keys.map(idOf));
    const done = Promise.withResolvers<undefined>();
    const unsubscribe = this.deployments.subscribe((_old, now) => {
      if (now !== undefined && isRolled(now, inflight)) waiting.delete(idOf(now.metadata));
      if (waiting.size === 0) done.resolve(undefined);
    });
    try {
      await within(done.promise, patience(keys.length), () => `${waiting.size} tenants have not rolled`);
    } finally {
      unsubscribe();
    }
  }

  /** Waits until the manager has had nothing to do for two looks, three seconds apart. */
  async quiet(): Promise<void> {
    const deadline = performance.now() + patience(this.tenants.list().length);
    let reconciles = -1;
    for (;;) {
      const look = await this.manager.look();
      if (look.busy === 0 && look.reconciles === reconciles) return;
      if (performance.now() > deadline) throw new Error('The manager does not come to rest.');
      reconciles = look.reconciles;
      await pause(3_000);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started.disposeAsync();
  }

  async #addStores(): Promise<void> {
    for (const name of stores) {
      const { apiVersion, kind, spec } = this.stores[name].dataStore;
      await this.management.client.apply([{ apiVersion, kind, metadata: { name }, spec: { ...spec } }]);
    }
    const deadline = performance.now() + 120_000;
    const missing = async (): Promise<readonly string[]> => {
      const { items } = await this.admin.list(dataStore);
      return items.filter(({ status }) => !isTrue(status?.conditions, 'Ready')).map(({ metadata }) => metadata.name);
    };
    for (let names = await missing(); names.length > 0; names = await missing()) {
      if (performance.now() > deadline) throw new Error(`The DataStores ${names.join(' and ')} are not Ready.`);
      await pause(200);
    }
  }

  /** The key of the next tenant, which does not exist yet. */
  nextKey(kind: TenantKind): Key {
    const number = this.#made;
    this.#made += 1;
    const namespace = kind === 'real' ? realNamespace : `fleet-${Math.floor(number / perNamespace)}`;
    return { namespace, name: `tenant-${number}` };
  }

  async #ensureNamespaces(keys: readonly Key[]): Promise<void> {
    for (const name of new Set(keys.map(({ namespace = '' }) => namespace))) {
      if (this.#namespaces.has(name)) continue;
      this.#namespaces.add(name);
      await this.admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
  }
}

/** How a tenant is named in messages and to the stand-in. */
export const idOf = ({ namespace = '', name }: Key): string => `${namespace}/${name}`;

/** The key of a tenant. */
export const keyOf = ({ metadata: { namespace, name } }: TenantControlPlane): Key => ({ namespace, name });

const isReady = ({ status }: TenantControlPlane): boolean => status?.kubernetesResources?.version?.status === 'Ready';

function isRolled({ metadata, spec, status }: Deployment, inflight: number): boolean {
  const args = spec?.template.spec?.containers.find(({ name }) => name === 'kube-apiserver')?.args ?? [];
  return (
    args.includes(`--max-requests-inflight=${inflight}`) &&
    status?.observedGeneration === metadata.generation &&
    (status?.readyReplicas ?? 0) > 0
  );
}

function tenantAt(key: Key, kind: TenantKind): Manifest {
  const isCompared = kind === 'real' || kind === 'compared';
  const extraArgs = isCompared ? { apiServer: ['--endpoint-reconciler-type=none'] } : undefined;
  const spec: TenantControlPlaneSpecInput = {
    dataStore: kind === 'few' ? 'few' : 'default',
    controlPlane: { deployment: { replicas: 1, extraArgs }, service: { serviceType: 'ClusterIP' } },
    kubernetes: { version },
    networkProfile: { port: 6443 },
    addons: { coreDNS: {}, kubeProxy: {} },
  };
  const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
  return { apiVersion, kind: 'TenantControlPlane', metadata: { ...key }, spec };
}

async function within<T>(work: Promise<T>, ms: number, what: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new Error(`After ${Math.round(ms / 1000)} s ${what()}.`));
  }, ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

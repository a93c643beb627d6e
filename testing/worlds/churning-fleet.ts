import { inspect } from 'node:util';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { kubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { dataStoreController } from '../../controllers/datastore/controller.ts';
import { kubeconfigGeneratorController } from '../../controllers/kubeconfiggenerator/controller.ts';
import { tenantControlPlaneController } from '../../controllers/tenantcontrolplane/controller.ts';
import { systemClock } from '../../runtime/clock.ts';
import { EventRecorder, eventKind } from '../../runtime/observe/event-recorder.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { TenantPool } from '../../tenants/pool.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import { seedManagementApi } from './management-api.ts';
import { MemoryStore } from '../fake/memory-driver.ts';
import { tenantControlPlaneWith } from '../builders/tenant-control-plane.ts';

const longestMs = 10 * 60_000;
const namespace = 'default';

/**
 * A manager over a cluster in memory that creates and deletes many tenants: each becomes ready, gets the kubeconfig of a
 * generator and is deleted. The history of the cluster is dropped after each batch, so that only the manager can grow.
 */
export class ChurningFleet {
  readonly memory = new ObjectMemory();
  readonly #cluster = new FakeCluster();
  readonly #store = new MemoryStore();
  readonly #informers = new InformerFactory({ cluster: this.#cluster.admin });
  readonly #sessions = new Sessions({ clock: systemClock });
  readonly #pool = new TenantPool({ clock: systemClock, memory: this.memory, open: () => new FakeCluster() });
  readonly #manager: Manager;
  #made = 0;

  constructor() {
    const { memory } = this;
    const [cluster, informers, clock] = [this.#cluster, this.#informers, systemClock];
    const stores = new StoreAccess({
      drivers: [this.#store.driver],
      sessions: this.#sessions,
      read: () => Promise.resolve(undefined),
    });
    const tenants = (): readonly TenantControlPlane[] => informers.informer({ kind: tenantControlPlane }).list();
    this.#manager = new Manager({
      ...{ cluster, informers, clock, log: silent, memory },
      events: new EventRecorder({ cluster, clock, log: silent, controller: 'test', instance: 'test', memory }),
      controllers: [
        tenantControlPlaneController({ cluster, informers, clock, memory, stores, pool: this.#pool }),
        dataStoreController({
          ...{ clock, memory, stores, tenants, defaultDataStore: '', namespace: '', isolationIntervalMs: 0 },
          allTenants: () => Promise.resolve({ tenants: tenants(), unknown: [] }),
        }),
        kubeconfigGeneratorController({
          ...{ cluster, memory, tenants, renewBeforeMs: 86_400_000 },
          generators: () => informers.informer({ kind: kubeconfigGenerator }).list(),
        }),
      ],
    });
  }

  async start(): Promise<void> {
    const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
    await seedManagementApi(this.#cluster, ['192.0.2.250']);
    await this.#cluster.seed(dataStore, {
      ...{ apiVersion, kind: 'DataStore', metadata: { name: 'default' } },
      spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
    });
    await this.#cluster.seed(kubeconfigGenerator, {
      ...{ apiVersion, kind: 'KubeconfigGenerator', metadata: { name: 'everybody' } },
      spec: { user: { stringValue: 'ada' } },
    });
    this.#cluster.after(async ({ kind, verb, name = '' }) => {
      if (kind?.kind === 'Deployment' && verb === 'apply') await this.#startPods(name);
    });
    await this.#manager.start();
  }

  /** How much the manager remembers of objects and of their keys. */
  get remembered(): number {
    return [...this.memory.sizes().values()].reduce((sum, size) => sum + size, this.#manager.remembered());
  }

  /** Makes so many tenants, waits until all are ready and have their kubeconfig, deletes them and waits until all have gone. */
  async pass(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, n) => `t${this.#made + n}`);
    this.#made += count;
    const { apiVersion, kind, spec } = tenantControlPlaneWith();
    for (const name of names)
      await this.#cluster.seed(tenantControlPlane, {
        apiVersion,
        kind,
        metadata: { name, namespace },
        spec,
      });
    const isReady = ({ status }: TenantControlPlane): boolean =>
      status?.kubernetesResources?.version?.status === 'Ready';
    await this.#until('all tenants are ready', tenantControlPlane, (items) => items.every(isReady));
    const generated = (items: readonly Resource[]): number =>
      items.filter(({ metadata }) => metadata.name.endsWith('-everybody')).length;
    await this.#until<Resource>('all have their kubeconfig', kinds.Secret, (items) => generated(items) === count);
    for (const name of names) await this.#cluster.admin.delete(tenantControlPlane, { namespace, name });
    await this.#until('all tenants have gone', tenantControlPlane, (items) => items.length === 0);
    await this.#until('the generator counts none', kubeconfigGenerator, ([one]) => one?.status?.resources === 0);
    await this.#forgetPast();
  }

  async stop(): Promise<void> {
    await this.#manager.stop(2_000);
    await this.#pool.close();
    await this.#sessions[Symbol.asyncDispose]();
    await this.#informers.close();
  }

  /** A real server's Events expire, and its history is compacted. */
  async #forgetPast(): Promise<void> {
    const { items } = await this.#cluster.admin.list(eventKind);
    for (const { metadata } of items) {
      await this.#cluster.admin.delete(eventKind, { namespace: metadata.namespace ?? '', name: metadata.name });
    }
    this.#store.calls.length = 0;
    this.#cluster.forgetPast();
  }

  /** Throws an error with the objects of the kind when it takes too long. */
  async #until<T extends Resource>(
    what: string,
    kind: KindRef<T>,
    holds: (items: readonly T[]) => boolean,
  ): Promise<void> {
    const signal = AbortSignal.timeout(longestMs);
    const seen = new Map<string, T>();
    let isComplete = false;
    try {
      for await (const event of this.#cluster.admin.watch(kind, { signal })) {
        if (!('object' in event)) isComplete ||= event.type === 'SYNC';
        else if (event.type === 'DELETED') seen.delete(event.object.metadata.uid);
        else seen.set(event.object.metadata.uid, event.object);
        if (isComplete && holds([...seen.values()])) return;
      }
    } catch (cause) {
      if (!signal.aborted) throw cause;
      const texts = [...seen.values()].map(({ metadata, ...rest }) =>
        inspect({ name: metadata.name, ...rest }, { depth: 6 }),
      );
      throw new Error(`after ${longestMs / 60_000} minutes, it is not so that ${what}: ${texts.join('\n')}`, { cause });
    }
    throw new Error('the watch ended');
  }

  async #startPods(name: string): Promise<void> {
    const key = { namespace, name };
    const found = await this.#cluster.admin.get(kinds.Deployment, key);
    const count = found?.spec?.replicas ?? 0;
    const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
    const body = { status: { observedGeneration: found?.metadata.generation, ...counts } };
    await this.#cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body }, { subresource: 'status' });
  }
}

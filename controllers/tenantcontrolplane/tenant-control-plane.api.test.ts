import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { wrapCluster } from '../../runtime/client/wrap-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Reconciler } from '../../runtime/reconcile/reconciler.ts';
import { etcdDriver } from '../../stores/etcd/driver.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { TenantPool } from '../../tenants/pool.ts';
import { emptyInformers } from '../../testing/fake/empty-informers.ts';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { patient } from '../../testing/patient.ts';
import { grantUser } from '../../testing/servers/grant-user.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { crashingCluster } from '../../testing/fake/crashing-cluster.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { startAutoscaler, startGarbageCollector } from '../../testing/servers/garbage-collector.ts';
import { serverFolder } from '../../testing/servers/server-folder.ts';
import type { ServerProcess } from '../../testing/servers/server-process.ts';
import { ownedKinds } from './watches.ts';
import { access } from './access.ts';
import { tenantControlPlaneController } from './controller.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

/** A DataStore that takes tenants although no controller of DataStores runs here, which would verify it. */
function unverified(store: DataStore): DataStore {
  return { ...store, spec: { ...store.spec, isolationPolicy: 'Report' } };
}

const user = 'tenant-controller';

let server: ApiServer;
let etcd: EtcdDataStore;
let collector: ServerProcess;
let folder: Awaited<ReturnType<typeof serverFolder>>;
let admin: Cluster;
let operator: Cluster;
let sessions: Sessions;
const pools: TenantPool[] = [];
let count = 0;

beforeAll(async () => {
  folder = await serverFolder();
  [server, etcd] = await Promise.all([startApiServer(), startEtcdDataStore()]);
  const connection = parseKubeconfig(server.kubeconfig);
  admin = openCluster(connection, { name: 'management' });
  const pair = await server.clientPair(user);
  operator = openCluster({ ...connection, clientCert: pair.certificate, clientKey: pair.key }, { name: 'management' });
  sessions = new Sessions({ clock: systemClock });
  await installKinds(admin, [dataStore, retainedControlPlane, tenantControlPlane]);
  await grantUser(admin, user, access);
  await admin.create(dataStore, { ...unverified(etcd.dataStore), metadata: { name: 'default' } });
  collector = await startGarbageCollector(server, folder.path);
}, 180_000);

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  await sessions[Symbol.asyncDispose]();
  await Promise.all([admin.close(), operator.close()]);
  await collector.kill();
  await Promise.all([server.stop(), etcd[Symbol.asyncDispose]()]);
  await folder[Symbol.asyncDispose]();
}, 60_000);

/** The same client, which records what it applies. */
function recording(cluster: Cluster, applied: string[]): Cluster {
  const recorded = wrapCluster(cluster, ({ send }) => send());
  recorded.apply = (kind, manifest, options) => {
    applied.push(`${kind.kind} ${manifest.metadata.name}`);
    return cluster.apply(kind, manifest, options);
  };
  return recorded;
}

/** One tenant in a namespace of its own, and the process that looks after it. */
class Tenant {
  readonly key = { namespace: `tenant-${(count += 1)}`, name: 'tenant' };
  /** What was applied in the management cluster. */
  readonly applied: string[] = [];
  readonly cluster = crashingCluster(recording(operator, this.applied));
  readonly inside = new FakeCluster();
  #reconciler = this.#newReconciler();

  restart(): void {
    this.cluster.restart();
    this.inside.restart();
    this.#reconciler = this.#newReconciler();
  }

  async create(spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { namespace, name } = this.key;
    await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await admin.create(tenantControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: { name, namespace },
      spec: {
        dataStore: 'default',
        controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
        kubernetes: { version: 'v1.36.3' },
        networkProfile: { address: '192.0.2.1' },
        addons: { coreDNS: {}, kubeProxy: {} },
        ...spec,
      },
    });
  }

  read(): Promise<TenantControlPlane | undefined> {
    return admin.get(tenantControlPlane, this.key);
  }

  ask(): Promise<boolean> {
    return admin.delete(tenantControlPlane, this.key);
  }

  /** What the Deployment's controller and a kubelet would report. */
  async startPods(): Promise<void> {
    const found = await admin.get(kinds.Deployment, this.key);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    const count = found.spec?.replicas ?? 0;
    const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
    const status = { observedGeneration: found.metadata.generation, ...counts };
    const patch = { type: 'merge', body: { status } } as const;
    await admin.patch(kinds.Deployment, this.key, patch, { subresource: 'status' });
  }

  /** Reconciles until `done`. Kubernetes' garbage collector works beside it, and takes its time on a busy machine. */
  async work(done: () => Promise<boolean>): Promise<void> {
    const latest = performance.now() + patient(30_000);
    while (performance.now() < latest && !this.cluster.crashed) {
      const found = await this.read();
      if (found !== undefined) await this.#reconciler.reconcile(found, silent);
      await this.startPods();
      if (await done()) return;
    }
    if (!this.cluster.crashed) throw new Error(`no end: ${JSON.stringify((await this.read())?.status?.conditions)}`);
  }

  untilReady(): Promise<void> {
    return this.work(async () => {
      const conditions = (await this.read())?.status?.conditions ?? [];
      return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    });
  }

  untilGone(): Promise<void> {
    return this.work(async () => (await this.read()) === undefined);
  }

  /** Names, labels, owners and keys of all objects of Steward in the namespace, without what differs between two runs. */
  async shape(): Promise<readonly unknown[]> {
    const { namespace } = this.key;
    const lists = await Promise.all(
      // Kinds that a cluster may lack, as this one does.
      ownedKinds
        .filter(({ optional }) => optional !== true)
        .map(async ({ kind }) => (await admin.list<Described>(kind as KindRef<Described>, { namespace })).items),
    );
    return lists
      .flat()
      .filter(({ metadata }) => metadata.labels?.['steward.butlerlabs.dev/project'] !== undefined)
      .map(({ kind, metadata, data }) => ({
        id: `${kind}/${metadata.name}`,
        labels: Object.keys(metadata.labels ?? {}).sort(),
        annotations: Object.keys(metadata.annotations ?? {}).filter((key) => !key.startsWith('deployment.')),
        owner: metadata.ownerReferences?.map((owner) => `${owner.kind} ${owner.name}`),
        keys: Object.keys(data ?? {}).sort(),
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #newReconciler(): Reconciler {
    const { cluster } = this;
    const pool = new TenantPool({ memory: new ObjectMemory(), clock: systemClock, open: this.inside.open });
    pools.push(pool);
    const controller = tenantControlPlaneController({
      memory: new ObjectMemory(),
      cluster,
      informers: emptyInformers,
      clock: systemClock,
      stores: new StoreAccess({
        drivers: [etcdDriver],
        sessions,
        read: secretReader((secret) => cluster.get(kinds.Secret, secret)),
      }),
      pool,
    });
    const stop = new AbortController().signal;
    const events = { record: (): void => undefined };
    return new Reconciler({
      memory: new ObjectMemory(),
      controller,
      cluster,
      clock: systemClock,
      events,
      stop,
      wrote: () => undefined,
    });
  }
}

interface Described extends Resource {
  readonly data?: object;
}

const etcdUsers = async ({ server: of } = etcd): Promise<number> =>
  (await of.control('user', 'list')).trim().split('\n').length - 1;

describe('A TenantControlPlane on a real API server with a real etcd', () => {
  test('becomes Ready, with a tenancy and an object of every name, and is removed completely', async () => {
    const tenant = new Tenant();
    await tenant.create();
    await tenant.untilReady();
    const status = (await tenant.read())?.status;
    expect(status?.controlPlaneEndpoint).toMatch(/^192\.0\.2\.1:3\d{4}$/);
    expect(await etcdUsers()).toBe(1);
    expect((await tenant.shape()).length).toBe(15);
    await tenant.ask();
    await tenant.untilGone();
    expect(await etcdUsers()).toBe(0);
    expect(await etcd.server.control('role', 'list')).not.toMatch(/^t/m);
  }, 60_000);

  test('is not written by a process that starts again, unless something has changed meanwhile', async () => {
    const tenant = new Tenant();
    const deployment = { replicas: 2, resources: { apiServer: { requests: { cpu: '250m', memory: '512Mi' } } } };
    await tenant.create({
      controlPlane: { deployment, service: { serviceType: 'NodePort' } },
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
    });
    await tenant.untilReady();
    await tenant.untilReady();
    expect(tenant.applied.length).toBeGreaterThan(15);
    tenant.applied.splice(0);
    tenant.restart();
    await tenant.untilReady();
    expect(tenant.applied).toEqual([]);
    const key = { ...tenant.key, name: 'tenant-kubeadmconfig' };
    await admin.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { ClusterConfiguration: 'spoiled' } } });
    await admin.patch(kinds.Service, tenant.key, { type: 'merge', body: { spec: { selector: { never: 'true' } } } });
    const body = { metadata: { labels: null } };
    await admin.patch(kinds.Secret, { ...tenant.key, name: 'tenant-ca' }, { type: 'merge', body });
    tenant.restart();
    await tenant.untilReady();
    expect([...tenant.applied].sort()).toEqual([
      'ConfigMap tenant-kubeadmconfig',
      'Secret tenant-ca',
      'Service tenant',
    ]);
    await tenant.ask();
    await tenant.untilGone();
  }, 60_000);

  test('has a tenancy in a second etcd with another CA as long as its spec says so', async () => {
    await using events = await startEtcdDataStore();
    const metadata = { name: 'events' };
    await admin.create(dataStore, { ...unverified(events.dataStore), metadata });
    const tenant = new Tenant();
    await tenant.create({ dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] });
    await tenant.untilReady();
    const storage = (await tenant.read())?.status?.storage;
    expect(storage?.overrides).toMatchObject([
      { resource: '/events', dataStoreName: 'events', schema: storage?.setup?.schema, user: storage?.setup?.user },
    ]);
    expect(storage?.overrides?.[0]?.checksum).toBeDefined();
    expect([await etcdUsers(), await etcdUsers(events)]).toEqual([1, 1]);
    const body = { spec: { dataStoreOverrides: [] } };
    await admin.patch(tenantControlPlane, tenant.key, { type: 'merge', body });
    await tenant.work(async () => (await tenant.read())?.status?.storage?.overrides === undefined);
    expect([await etcdUsers(), await etcdUsers(events)]).toEqual([1, 0]);
    const secret = { ...tenant.key, name: 'tenant-datastore-overrides-certificate' };
    expect(await admin.get(kinds.Secret, secret)).toBeUndefined();
    await admin.patch(tenantControlPlane, tenant.key, {
      type: 'merge',
      body: { spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] } },
    });
    await tenant.work(async () => (await etcdUsers(events)) === 1);
    await tenant.ask();
    await tenant.untilGone();
    expect([await etcdUsers(), await etcdUsers(events)]).toEqual([0, 0]);
    expect((await events.server.control('get', '', '--prefix', '--keys-only')).trim()).toBe('');
    await admin.delete(dataStore, metadata);
  }, 120_000);

  test('keeps the replicas that others set while it is autoscaled, and sleeps and wakes up', async () => {
    const tenant = new Tenant();
    const autoscaling = { minReplicas: 1, maxReplicas: 5, targetInFlightRequests: 100 };
    const service = { serviceType: 'NodePort' };
    await tenant.create({ controlPlane: { deployment: { replicas: 2, autoscaling }, service } });
    await tenant.untilReady();
    const replicas = async (): Promise<number | undefined> =>
      (await admin.get(kinds.Deployment, tenant.key))?.spec?.replicas;
    const autoscaler = () => admin.get(kinds.HorizontalPodAutoscaler, tenant.key);
    const change = async (deployment: object): Promise<void> => {
      const body = { spec: { controlPlane: { deployment } } };
      await admin.patch(tenantControlPlane, tenant.key, { type: 'merge', body });
    };
    const shown = async (): Promise<boolean> => {
      const { metadata, status } = (await tenant.read()) ?? {};
      return status?.observedGeneration === metadata?.generation;
    };
    expect([await replicas(), (await autoscaler())?.spec.maxReplicas]).toEqual([2, 5]);
    const scale = { type: 'merge', body: { spec: { replicas: 4 } } } as const;
    await admin.patch(kinds.Deployment, tenant.key, scale, { subresource: 'scale' });
    await change({ podAdditionalMetadata: { labels: { team: 'a' } } });
    await tenant.work(shown);
    await tenant.untilReady();
    const found = await admin.get(kinds.Deployment, tenant.key);
    expect([found?.spec?.replicas, found?.spec?.template.metadata?.labels?.team]).toEqual([4, 'a']);
    await change({ replicas: 0 });
    await tenant.work(shown);
    expect([await replicas(), await autoscaler()]).toEqual([0, undefined]);
    await change({ replicas: 3 });
    await tenant.untilReady();
    expect([await replicas(), (await autoscaler())?.spec.maxReplicas]).toEqual([3, 5]);
    await tenant.ask();
    await tenant.untilGone();
  }, 60_000);

  test('has no pods while a migration has stopped them, whoever has set their number, and as many again afterwards', async () => {
    const tenant = new Tenant();
    const autoscaling = { minReplicas: 1, maxReplicas: 5, targetInFlightRequests: 100 };
    const service = { serviceType: 'NodePort' };
    await tenant.create({ controlPlane: { deployment: { replicas: 2, autoscaling }, service } });
    await tenant.untilReady();
    const scale = { type: 'merge', body: { spec: { replicas: 4 } } } as const;
    await admin.patch(kinds.Deployment, tenant.key, scale, { subresource: 'scale' });
    await tenant.untilReady();
    const seen = async (): Promise<readonly unknown[]> => {
      const [deployment, service] = await Promise.all([
        admin.get(kinds.Deployment, tenant.key),
        admin.get(kinds.Service, tenant.key),
      ]);
      return [deployment?.spec?.replicas, service?.spec?.selector];
    };
    const [time, ours] = [new Date().toISOString(), { 'steward.butlerlabs.dev/name': 'tenant' }];
    const onSource = { ...ours, 'component.steward.butlerlabs.dev/datastore': 'default' };
    const stopped = {
      source: { dataStoreName: 'default' },
      target: { dataStoreName: 'none' },
      startedAt: time,
      stoppedAt: time,
      replicas: 4,
    };
    for (const [migration, expected] of [
      [{ ...stopped, phase: 'Finishing' }, [0, onSource]],
      [{ ...stopped, phase: 'RollingBack' }, [4, onSource]],
      [null, [4, ours]],
    ] as const) {
      const body = { status: { storage: { migration } } };
      await admin.patch(tenantControlPlane, tenant.key, { type: 'merge', body }, { subresource: 'status' });
      await tenant.work(async () => isDeepStrictEqual(await seen(), expected)).catch(() => undefined);
      expect(await seen()).toEqual(expected);
    }
    await tenant.ask();
    await tenant.untilGone();
  }, 120_000);

  test('has the pods that the autoscaler of Kubernetes wants', async () => {
    const scaler = await startAutoscaler(server, folder.path);
    const tenant = new Tenant();
    const autoscaling = { minReplicas: 1, maxReplicas: 5, targetInFlightRequests: 100 };
    const service = { serviceType: 'NodePort' };
    await tenant.create({ controlPlane: { deployment: { replicas: 2, autoscaling }, service } });
    await tenant.untilReady();
    const has = async (replicas: number): Promise<boolean> =>
      (await admin.get(kinds.Deployment, tenant.key))?.spec?.replicas === replicas;
    // It needs no metrics to keep the number of pods within the bounds.
    for (const [minReplicas, maxReplicas, wanted] of [
      [4, 5, 4],
      [1, 3, 3],
    ] as const) {
      const body = { spec: { controlPlane: { deployment: { autoscaling: { minReplicas, maxReplicas } } } } };
      await admin.patch(tenantControlPlane, tenant.key, { type: 'merge', body });
      await tenant.work(async () => {
        const { spec } = (await admin.get(kinds.HorizontalPodAutoscaler, tenant.key)) ?? {};
        return spec?.minReplicas === minReplicas;
      });
      await scaler.until(() => has(wanted), 30_000);
      await tenant.untilReady();
      expect(await has(wanted)).toBe(true);
    }
    await tenant.ask();
    await tenant.untilGone();
    await scaler.kill();
  }, 120_000);

  test('is the same after a crash at any call of its creation', async () => {
    const model = new Tenant();
    await model.create();
    await model.untilReady();
    const total = model.cluster.calls;
    const expected = await model.shape();
    expect(total).toBeGreaterThan(20);
    for (const calls of crashPoints(total, 'creation on an API server')) {
      const tenant = new Tenant();
      await tenant.create();
      tenant.cluster.crashAfter(calls);
      await tenant.untilReady();
      tenant.restart();
      await tenant.untilReady();
      expect({ calls, shape: await tenant.shape() }).toEqual({ calls, shape: expected });
      await tenant.ask();
      await tenant.untilGone();
    }
    await model.ask();
    await model.untilGone();
    expect(await etcdUsers()).toBe(0);
  }, 400_000);

  test('is gone after a crash at any call of its deletion', async () => {
    let finished = false;
    for (let calls = 1; !finished; calls += 1) {
      const tenant = new Tenant();
      await tenant.create();
      await tenant.untilReady();
      await tenant.ask();
      tenant.cluster.crashAfter(calls);
      await tenant.untilGone();
      finished = !tenant.cluster.crashed;
      tenant.restart();
      await tenant.untilGone();
      expect(await etcdUsers()).toBe(0);
    }
  }, 400_000);
});

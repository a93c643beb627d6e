import { afterEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { sleep } from '../../runtime/clock.ts';
import { ApiError, UnreachableError } from '../../runtime/client/errors.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { TenantPool } from '../../tenants/pool.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { seedManagementApi } from '../../testing/worlds/management-api.ts';
import { MemoryStore } from '../../testing/fake/memory-driver.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { tenantControlPlaneController } from './controller.ts';
import { verifiedIsolation } from '../../testing/builders/verified-isolation.ts';

type Fault = (call: { readonly verb: string; readonly path?: string }, clock: FakeClock) => void | Promise<void>;

const at = { namespace: 'default', name: 'tenant' };

/** A manager with one tenant, both in memory, whose time a test moves. */
class Hosted {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster({ now: () => this.clock.now().getTime() });
  readonly tenant = new FakeCluster({ now: () => this.clock.now().getTime() });
  readonly #informers = new InformerFactory({ cluster: this.cluster.admin, clock: this.clock, random: () => 0.5 });
  readonly #sessions = new Sessions({ clock: this.clock });
  readonly #manager: Manager;

  constructor() {
    const { cluster, clock } = this;
    const memory = new ObjectMemory();
    const recorder = { cluster: cluster.admin, clock, memory, log: silent, controller: 'test', instance: 'test' };
    this.#manager = new Manager({
      controllers: [
        tenantControlPlaneController({
          cluster,
          clock,
          memory,
          informers: this.#informers,
          stores: new StoreAccess({
            drivers: [new MemoryStore().driver],
            sessions: this.#sessions,
            read: () => Promise.resolve(undefined),
          }),
          pool: new TenantPool({ clock, memory, open: this.tenant.open }),
        }),
      ],
      cluster,
      informers: this.#informers,
      clock,
      memory,
      log: silent,
      events: new EventRecorder(recorder),
    });
    cluster.after(async ({ kind, verb }) => {
      if (kind?.kind === 'Deployment' && verb === 'apply') await this.#startPods();
    });
  }

  /**
   * Creates the tenant and waits until the controller calls its API server for the first time, or reports it as ready.
   * `api` are the addresses of the management cluster's own API server.
   */
  async start(until: () => boolean | Promise<boolean>, api: readonly string[] = ['192.0.2.250']): Promise<void> {
    await this.cluster.seed(dataStore, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name: 'default' },
      spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
      status: { conditions: [verifiedIsolation] },
    });
    await seedManagementApi(this.cluster, api);
    const { spec, apiVersion, kind } = tenantControlPlaneWith({ spec: { addons: { coreDNS: {}, kubeProxy: {} } } });
    await this.cluster.seed(tenantControlPlane, { apiVersion, kind, metadata: at, spec });
    await this.#manager.start();
    // Keys are made in other threads, by a time of their own.
    for (let turn = 0; turn < 200_000 && !(await until()); turn += 1) {
      await settle();
      if (turn % 20 === 0) await this.clock.advance(1);
    }
    expect(await until()).toBe(true);
  }

  async read(): Promise<TenantControlPlane | undefined> {
    return this.cluster.admin.get(tenantControlPlane, at);
  }

  async isReady(): Promise<boolean> {
    return (await this.read())?.status?.kubernetesResources?.version?.status === 'Ready';
  }

  /** Requests to the management cluster and to the tenant within so long. */
  async within(ms: number): Promise<{ readonly management: number; readonly tenant: number }> {
    const [management, tenant] = [this.cluster.calls.length, this.tenant.calls.length];
    for (let passed = 0; passed < ms; passed += 50) await this.clock.advance(50);
    for (let turn = 0; turn < 50; turn += 1) await settle();
    return { management: this.cluster.calls.length - management, tenant: this.tenant.calls.length - tenant };
  }

  /** Waits until a minute passes without a request to the management cluster: keys are made in other threads, by a time of their own. */
  async quiet(): Promise<void> {
    for (let minute = 0; minute < 20; minute += 1) {
      if ((await this.within(60_000)).management === 0) return;
    }
    throw new Error('there is a request in each of twenty minutes');
  }

  async stop(): Promise<void> {
    const stopped = this.#manager.stop(0);
    await this.clock.advance(20_000);
    await stopped;
    await this.#sessions[Symbol.asyncDispose]();
    await this.#informers.close();
  }

  async #startPods(): Promise<void> {
    const found = await this.cluster.admin.get(kinds.Deployment, at);
    const count = found?.spec?.replicas ?? 0;
    const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
    const body = { status: { observedGeneration: found?.metadata.generation, ...counts } };
    await this.cluster.admin.patch(kinds.Deployment, at, { type: 'merge', body }, { subresource: 'status' });
  }
}

let hosted: Hosted | undefined;
afterEach(async () => {
  await hosted?.stop();
  hosted = undefined;
});

const isWrite = ({ verb }: { readonly verb: string }): boolean => verb !== 'text' && verb !== 'get' && verb !== 'list';
const noNamespace = new ApiError(404, 'NotFound', 'namespaces "kube-system" not found');

const faults: readonly (readonly [string, Fault])[] = [
  [
    'refuses',
    () => {
      throw new UnreachableError('connection refused');
    },
  ],
  [
    'answers 500',
    () => {
      throw new ApiError(500, 'InternalError', 'no');
    },
  ],
  [
    'accepts and says nothing',
    async (_call, clock) => {
      await sleep(clock, 10_000);
      throw new UnreachableError('no answer');
    },
  ],
  [
    'hangs on writes',
    async (call, clock) => {
      if (!isWrite(call)) return;
      await sleep(clock, 10_000);
      throw new UnreachableError('no answer');
    },
  ],
  [
    'has no namespaces',
    (call) => {
      if (isWrite(call)) throw noNamespace;
    },
  ],
];

describe('A tenant whose API server from its first start', () => {
  test.each(faults)(
    '%s costs the management cluster nothing once that is known, and is served as soon as it answers',
    async (_how, fault) => {
      const world = (hosted = new Hosted());
      let asked = 0;
      const heal = world.tenant.before((call) => {
        asked += 1;
        return fault(call, world.clock);
      });
      await world.start(() => asked > 0);
      await world.quiet();
      const { management, tenant } = await world.within(300_000);
      expect(management).toBe(0);
      expect(tenant).toBeGreaterThan(0);
      expect(tenant).toBeLessThan(60);
      heal();
      await world.within(400_000);
      expect(await world.isReady()).toBe(true);
    },
    60_000,
  );
});

test('a tenant that serves and then always answers that a namespace does not exist is backed off', async () => {
  const world = (hosted = new Hosted());
  await world.start(() => world.isReady());
  world.tenant.before((call) => {
    if (isWrite(call)) throw noNamespace;
  });
  await world.cluster.admin.patch(tenantControlPlane, at, {
    type: 'merge',
    body: { spec: { networkProfile: { clusterDomain: 'other.local' } } },
  });
  await world.quiet();
  expect((await world.within(300_000)).management).toBe(0);
}, 60_000);

test('a tenant in a cluster without the address of its API server costs one shared read a minute, until that is known', async () => {
  const world = (hosted = new Hosted());
  await world.start(() => world.isReady(), []);
  await world.within(60_000);
  const unknown = (await world.read())?.status?.conditions?.find(({ type }) => type === 'PodsProtected');
  expect(unknown?.reason).toBe('ManagementApiUnknown');
  // The Service and its EndpointSlice, five or six times.
  expect((await world.within(300_000)).management).toBeLessThanOrEqual(12);
  const body = { endpoints: [{ addresses: ['192.0.2.250'] }] };
  const key = { namespace: 'default', name: 'kubernetes' };
  await world.cluster.admin.patch(kinds.EndpointSlice, key, { type: 'merge', body });
  await world.within(130_000);
  const known = (await world.read())?.status?.conditions?.find(({ type }) => type === 'PodsProtected');
  expect(known?.status).toBe('True');
}, 60_000);

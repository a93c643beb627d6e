import { once } from 'node:events';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../../api/meta.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Connection } from '../../../../runtime/client/connection.ts';
import { EventRecorder, eventKind } from '../../../../runtime/observe/event-recorder.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import type { ClusterOptions } from '../../../../runtime/client/http-cluster.ts';
import { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import { silent } from '../../../../runtime/observe/logger.ts';
import { Manager } from '../../../../runtime/reconcile/manager.ts';
import type { Driver, Session } from '../../../../stores/driver.ts';
import { Sessions } from '../../../../stores/sessions.ts';
import { StoreAccess } from '../../../../stores/store-access.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { TenantPool } from '../../../../tenants/pool.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { MemoryStore } from '../../../../testing/fake/memory-driver.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { dataStoreController } from '../../../datastore/controller.ts';
import { tenantControlPlaneController } from '../../controller.ts';

/** How long a store that is dead lets callers wait. */
const deadMs = 200;
/** How long a tenant that never answers is waited for. */
const silentMs = 1_200;

/** A manager with both controllers over a cluster in memory. */
class Fleet {
  readonly cluster = new FakeCluster();
  readonly memory = new MemoryStore();
  /** Calls that a dead store let wait, by what was called. */
  readonly inVain: string[] = [];
  readonly #informers = new InformerFactory({ cluster: this.cluster.admin });
  readonly #sessions = new Sessions({ clock: systemClock });
  /** Takes connections of tenants and never says a word. */
  readonly #silence = createServer((socket) => this.#held.push(socket));
  readonly #held: Socket[] = [];
  readonly #memory = new ObjectMemory();
  readonly #pool = new TenantPool({
    memory: this.#memory,
    clock: systemClock,
    open: (connection, limits) => this.#tenant(connection, limits),
  });
  readonly #manager: Manager;

  constructor() {
    const { cluster } = this;
    const stores = new StoreAccess({
      drivers: [this.#driver()],
      sessions: this.#sessions,
      read: () => Promise.resolve(undefined),
    });
    const tenants = (): readonly TenantControlPlane[] => this.#informers.informer({ kind: tenantControlPlane }).list();
    const recorder = {
      cluster,
      clock: systemClock,
      log: silent,
      controller: 'test',
      instance: 'test',
      memory: this.#memory,
    };
    this.#manager = new Manager({
      memory: this.#memory,
      controllers: [
        tenantControlPlaneController({
          memory: this.#memory,
          cluster,
          clock: systemClock,
          informers: this.#informers,
          stores,
          pool: this.#pool,
        }),
        dataStoreController({
          memory: this.#memory,
          clock: systemClock,
          stores,
          tenants,
          allTenants: () => Promise.resolve({ tenants: tenants(), unknown: [] }),
          defaultDataStore: '',
          namespace: '',
          isolationIntervalMs: 0,
        }),
      ],
      cluster,
      informers: this.#informers,
      clock: systemClock,
      log: silent,
      events: new EventRecorder(recorder),
    });
  }

  async start(): Promise<void> {
    this.#silence.listen(0, '127.0.0.1');
    await once(this.#silence, 'listening');
    this.cluster.after(async ({ kind, verb, name = '' }) => {
      if (kind?.kind === 'Deployment' && verb === 'apply') await this.#startPods(name);
    });
    await this.#manager.start();
  }

  async stop(): Promise<void> {
    await this.#manager.stop(2000);
    for (const socket of this.#held) socket.destroy();
    this.#silence.close();
    await this.#pool.close();
    await this.#sessions[Symbol.asyncDispose]();
    await this.#informers.close();
  }

  async addStore(name: string, tenants?: number): Promise<void> {
    await this.cluster.seed(dataStore, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name },
      spec: {
        driver: 'etcd',
        endpoints: [`${name}:2379`],
        ...(tenants !== undefined && { placement: { capacity: { tenants } } }),
      },
      // One that is dead was verified before it died: tenants would not come to it otherwise.
      ...(name === 'dead' && { status: { conditions: [verifiedIsolation] } }),
    });
  }

  async addTenants(count: number, dataStoreName = '', prefix = 't'): Promise<void> {
    const { spec, apiVersion, kind } = tenantControlPlaneWith({ spec: { dataStore: dataStoreName } });
    const names = Array.from({ length: count }, (_, n) => `${prefix}${n}`);
    await Promise.all(
      names.map((name) =>
        this.cluster.seed(tenantControlPlane, {
          apiVersion,
          kind,
          metadata: { name, namespace: 'default' },
          spec,
        }),
      ),
    );
  }

  /** Waits until the objects of a kind meet the condition, and returns them. */
  async until<T extends Resource>(kind: KindRef<T>, holds: (items: readonly T[]) => boolean): Promise<readonly T[]> {
    const signal = AbortSignal.timeout(240_000);
    for await (const event of this.cluster.admin.watch(kind, { signal })) {
      if (event.type === 'BOOKMARK') continue;
      const { items } = await this.cluster.admin.list(kind);
      if (holds(items)) return items;
    }
    throw new Error('the watch ended');
  }

  /** The number of tenancies, by DataStore. */
  async made(): Promise<Readonly<Record<string, number>>> {
    const { items } = await this.cluster.admin.list(tenantControlPlane);
    return countBy(items.filter(isMade).map(({ status }) => status?.storage?.dataStoreName ?? ''));
  }

  async #startPods(name: string): Promise<void> {
    const key = { namespace: 'default', name };
    const found = await this.cluster.admin.get(kinds.Deployment, key);
    const count = found?.spec?.replicas ?? 0;
    const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
    const body = { status: { observedGeneration: found?.metadata.generation, ...counts } };
    await this.cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body }, { subresource: 'status' });
  }

  #tenant(connection: Connection, limits: ClusterOptions): Cluster {
    if (!connection.server.includes('silent')) return new FakeCluster();
    const { port } = this.#silence.address() as AddressInfo;
    return openCluster({ ...connection, dial: { host: '127.0.0.1', port } }, { ...limits, timeoutMs: silentMs });
  }

  #driver(): Driver<string> {
    return {
      ...this.memory.driver,
      open: async (config, signal) => {
        const session = await this.memory.driver.open(config, signal);
        if (!config.startsWith('dead')) return session;
        const wait = (call: string) => async (): Promise<never> => {
          this.inVain.push(call);
          await new Promise((resolve) => setTimeout(resolve, deadMs));
          throw new StoreError('Unreachable', `${config}: no answer`);
        };
        return { ...session, ping: wait('ping'), ensure: wait('ensure'), remove: wait('remove') } satisfies Session;
      },
    };
  }
}

const isMade = ({ status }: TenantControlPlane): boolean => status?.storage?.setup?.schema !== undefined;
const reasonOf = ({ status }: TenantControlPlane): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'StoreReady')?.reason;

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...new Set(names)].sort().map((name) => [name, names.filter((one) => one === name).length]),
  );
}

let fleet: Fleet | undefined;

afterEach(() => fleet?.stop());

describe('Many tenants', () => {
  test('share datastores up to their capacity, and those that wait are placed as soon as there is room', async () => {
    fleet = new Fleet();
    const { cluster } = fleet;
    await Promise.all([fleet.addStore('a', 4), fleet.addStore('b', 3), fleet.addStore('c', 2), fleet.addTenants(12)]);
    await fleet.start();
    const isSettled = (items: readonly TenantControlPlane[]): boolean =>
      items.filter(isMade).length === 9 && items.filter((tcp) => reasonOf(tcp) === 'NoDataStoreFits').length === 3;
    await fleet.until(tenantControlPlane, isSettled);
    expect(await fleet.made()).toEqual({ a: 4, b: 3, c: 2 });
    const stores = await fleet.until(dataStore, (all) => all.every(({ status }) => status?.availableTenants === 0));
    expect(stores.map(({ status }) => status?.tenants)).toEqual([4, 3, 2]);

    await cluster.admin.patch(dataStore, { name: 'b' }, { type: 'merge', body: roomFor(5) });
    await fleet.until(tenantControlPlane, (items) => items.filter(isMade).length === 11);
    expect(await fleet.made()).toEqual({ a: 4, b: 5, c: 2 });

    const { items } = await cluster.admin.list(tenantControlPlane);
    const leaves = items.find(({ status }) => status?.storage?.dataStoreName === 'c');
    const name = leaves?.metadata.name ?? '';
    await cluster.admin.delete(tenantControlPlane, { namespace: 'default', name });
    await fleet.until(tenantControlPlane, (left) => left.length === 11 && left.every(isMade));
    expect(await fleet.made()).toEqual({ a: 4, b: 5, c: 2 });
    const events = await cluster.admin.list<DataStore & { readonly reason?: string }>(eventKind as never);
    const reasons = events.items.map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'Placed').length).toBeGreaterThanOrEqual(12);
    expect(reasons).toEqual(expect.arrayContaining(['NoDataStoreFits', 'Full']));
  }, 300_000);

  test('of a dead datastore delay no other tenant: only the first ones and its probe send requests to it', async () => {
    fleet = new Fleet();
    await Promise.all([fleet.addStore('dead'), fleet.addStore('live')]);
    await fleet.addTenants(24, 'dead', 'dead-');
    await fleet.start();
    await fleet.addTenants(1, 'live', 'live-');
    await fleet.until(tenantControlPlane, (items) =>
      items.every((tcp) => (tcp.spec.dataStore === 'live' ? isMade(tcp) : reasonOf(tcp) === 'Unreachable')),
    );
    // Eight concurrent reconciles, each with two requests.
    expect(fleet.inVain.filter((call) => call === 'ensure').length).toBeLessThanOrEqual(16);
  }, 300_000);
});

describe('Tenants whose API servers never answer', () => {
  test('delay no other tenant, although they are many more than the concurrent reconciles', async () => {
    fleet = new Fleet();
    await fleet.addStore('live');
    await fleet.addTenants(20, 'live', 'silent-');
    await fleet.start();
    const isSilent = (tcp: TenantControlPlane): boolean => tcp.metadata.name.startsWith('silent');
    const about = ({ status }: TenantControlPlane, type: string): string =>
      status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
    const saysSo = (tcp: TenantControlPlane): boolean =>
      about(tcp, 'ControlPlaneAvailable').includes('no answer within');
    await fleet.until(tenantControlPlane, (items) => items.every(saysSo));
    await fleet.addTenants(3, 'live', 'live-');
    const isReady = ({ status }: TenantControlPlane): boolean =>
      status?.kubernetesResources?.version?.status === 'Ready';
    const all = await fleet.until(tenantControlPlane, (items) => items.filter(isReady).length === 3);
    expect(all.filter(isReady).some(isSilent)).toBe(false);
  }, 300_000);
});

function roomFor(tenants: number): object {
  return { spec: { placement: { capacity: { tenants } } } };
}

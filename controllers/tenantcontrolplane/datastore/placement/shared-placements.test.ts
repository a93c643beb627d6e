import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Resource } from '../../../../api/meta.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Informer } from '../../../../runtime/cache/informer.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { SharedRecord } from '../../../../runtime/shards/shared-record.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { listedInformers } from '../../../../testing/fake/listed-informers.ts';
import { parseChoices, printChoices } from './choices-record.ts';
import { Placements } from './placements.ts';
import type { Departure, PlacementResult } from './placements.ts';

const { signal } = new AbortController();
const namespace = 'default';

const store = (name: string, tenants: number): DataStore => {
  const at = { observedGeneration: 1, lastTransitionTime: '2030-01-01T00:00:00Z' };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name }),
    spec: { driver: 'etcd', endpoints: ['etcd:2379'], placement: { weight: 1, capacity: { tenants } } },
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', ...at }, verifiedIsolation] },
  };
};

/** The API server, and several managers whose caches are behind it until a test lets them catch up. */
class Fleet {
  readonly cluster = new FakeCluster();
  readonly managers: Manager[] = [];
  stores: readonly DataStore[] = [];
  elapsedMs = 0;
  #made = 0;

  async serve(...capacities: readonly number[]): Promise<void> {
    for (const [n, tenants] of capacities.entries()) await this.cluster.seed(dataStore, store(`s${n}`, tenants));
    this.stores = (await this.cluster.admin.list(dataStore)).items;
  }

  async start(): Promise<Manager> {
    const manager = new Manager(this, `manager-${this.#made}`);
    this.#made += 1;
    this.managers.push(manager);
    await manager.catchUp();
    return manager;
  }

  async create(name: string): Promise<void> {
    await this.cluster.seed(
      tenantControlPlane,
      tenantControlPlaneWith({ metadata: { name, namespace, uid: `uid-${name}` }, spec: { dataStore: '' } }),
    );
  }

  async tenants(): Promise<readonly TenantControlPlane[]> {
    return (await this.cluster.admin.list(tenantControlPlane)).items;
  }

  /** How many tenants each DataStore has by their status. */
  async counts(): Promise<readonly number[]> {
    const tenants = await this.tenants();
    const inStore = ({ metadata: { name } }: DataStore): number =>
      tenants.filter(({ status }) => status?.storage?.placement?.dataStoreName === name).length;
    return this.stores.map(inStore);
  }
}

class Manager {
  readonly memory = new ObjectMemory();
  readonly name: string;
  readonly #fleet: Fleet;
  readonly #placements: Placements;
  #tenants: readonly TenantControlPlane[] = [];
  #version = '0';
  /** Its clock goes wrong by so much. */
  aheadMs = 0;
  /** What it has chosen and not recorded yet. */
  readonly chosen = new Map<string, string>();

  constructor(fleet: Fleet, name: string) {
    this.#fleet = fleet;
    this.name = name;
    const { cluster } = fleet;
    const listed = listedInformers({ TenantControlPlane: () => this.#tenants, DataStore: () => fleet.stores });
    const informer = <T extends Resource>(selection: Parameters<InformerFactory['informer']>[0]): Informer<T> => {
      const found = listed.informer<T>({ kind: { ...selection.kind } as never });
      return { ...found, health: () => ({ ...found.health(), version: this.#version }) };
    };
    this.#placements = new Placements({
      ...{ cluster, memory: this.memory, defaultDataStore: '', namespace: '' },
      informers: { informer },
      allTenants: () => this.#tenants,
      stores: { capabilities: () => undefined },
      shared: {
        record: new SharedRecord({
          ...{ cluster, lease: { namespace: 'steward-system', name: 'choices' }, annotation: 'example.com/choices' },
          ...{ parse: parseChoices, print: printChoices },
        }),
        self: name,
        isAtWork: (other) => Promise.resolve(fleet.managers.some((one) => one.name === other)),
        clock: { monotonic: () => fleet.elapsedMs, now: () => new Date(1e12 + fleet.elapsedMs + this.aheadMs) },
      },
    });
  }

  /** Its cache shows all that is stored. */
  async catchUp(): Promise<void> {
    const { items, resourceVersion } = await this.#fleet.cluster.admin.list(tenantControlPlane);
    this.#tenants = items;
    this.#version = resourceVersion;
  }

  cached(name: string): TenantControlPlane | undefined {
    return this.#tenants.find(({ metadata }) => metadata.name === name);
  }

  async place(name: string, departure?: Departure): Promise<PlacementResult | undefined> {
    const tcp = this.cached(name);
    // A tenant is one manager's at a time.
    if (tcp === undefined || this.#fleet.managers.some(({ chosen }) => chosen.has(name))) return undefined;
    if (departure === undefined && tcp.status?.storage?.placement !== undefined) return undefined;
    const result = await this.#placements.place(tcp, signal, departure);
    if (result.is === 'chosen') this.chosen.set(name, result.fit.name);
    return result;
  }

  /** Writes what it chose into the status, unless somebody has written that since its cache saw it. */
  async record(name: string): Promise<void> {
    const dataStoreName = this.chosen.get(name);
    this.chosen.delete(name);
    const now = (await this.#fleet.tenants()).find(({ metadata }) => metadata.name === name);
    if (dataStoreName === undefined || now === undefined || now.status?.storage?.placement !== undefined) return;
    const status = { storage: { placement: { dataStoreName, score: 1, time: '2030-01-01T00:00:00Z' } } };
    await this.#fleet.cluster.admin.patch(
      ...([tenantControlPlane, { namespace, name }, { type: 'merge', body: { status } }] as const),
      { subresource: 'status' },
    );
  }

  release(name: string): void {
    this.chosen.delete(name);
    this.#placements.release(this.cached(name)?.metadata.uid ?? '');
  }
}

test('managers never overfill a datastore together, however far their caches are behind, and leave no room unused', async () => {
  const act = fc.constantFrom('place', 'place', 'place', 'record', 'record', 'catch up', 'die', 'delete', 'lose');
  const step = fc.record({ act, manager: fc.nat(2), tenant: fc.nat(7) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
      fc.array(step, { minLength: 10, maxLength: 50, size: 'max' }),
      async (capacities, steps) => {
        const fleet = new Fleet();
        await fleet.serve(...capacities);
        for (let n = 0; n < 8; n += 1) await fleet.create(`t${n}`);
        for (let n = 0; n < 3; n += 1) await fleet.start();
        const within = async (): Promise<void> => {
          const counts = await fleet.counts();
          for (const [n, most] of capacities.entries()) expect(counts[n]).toBeLessThanOrEqual(most);
        };
        for (const { act: what, manager: at, tenant } of steps) {
          const [manager, name] = [fleet.managers[at], `t${tenant}`];
          if (manager === undefined) continue;
          if (what === 'place') await manager.place(name);
          if (what === 'record') await manager.record(name);
          if (what === 'catch up') await manager.catchUp();
          if (what === 'delete' && at === 0) await fleet.cluster.admin.delete(tenantControlPlane, { namespace, name });
          // It keeps running for a while, but it is no longer a member, so that it writes nothing.
          if (what === 'die') {
            fleet.managers.splice(at, 1);
            await fleet.start();
          }
          if (what === 'lose') {
            manager.chosen.delete(name);
            manager.memory.drop(manager.cached(name)?.metadata.uid ?? '');
          }
          await within();
        }
        const [last] = fleet.managers;
        for (const manager of fleet.managers) for (const name of manager.chosen.keys()) await manager.record(name);
        for (const { metadata } of await fleet.tenants()) {
          await last?.catchUp();
          await last?.place(metadata.name);
          await last?.record(metadata.name);
        }
        await within();
        const unplaced = (await fleet.tenants()).filter(
          ({ status }) => status?.storage?.placement === undefined,
        ).length;
        const room = capacities.reduce((sum, one) => sum + one, 0);
        const used = (await fleet.counts()).reduce((sum, one) => sum + one, 0);
        expect(Math.min(unplaced, room - used)).toBe(0);
      },
    ),
    { numRuns: 25 },
  );
}, 60_000);

test('a manager whose cache lacks a choice that is no longer listed waits for its cache', async () => {
  const fleet = new Fleet();
  await fleet.serve(2);
  for (const name of ['a', 'b', 'c', 'd']) await fleet.create(name);
  const [one, other] = [await fleet.start(), await fleet.start()];
  await other.place('d');
  await other.record('d');
  for (const manager of [one, other]) await manager.catchUp();
  await one.place('a');
  await one.record('a');
  await one.catchUp();
  // With the next choice, it takes the one that its cache shows from the list.
  expect((await one.place('c'))?.is).toBe('none');
  expect((await other.place('b'))?.is).toBe('behind');
  await other.catchUp();
  expect((await other.place('b'))?.is).toBe('none');
});

test('only one tenant at a time is chosen to leave a datastore, whichever manager it belongs to', async () => {
  const fleet = new Fleet();
  await fleet.serve(5, 5);
  for (const name of ['a', 'b']) await fleet.create(name);
  const [one, other] = [await fleet.start(), await fleet.start()];
  const departure = { leaves: 's0', selector: undefined };
  expect((await one.place('a', departure))?.is).toBe('chosen');
  expect((await other.place('b', departure))?.is).toBe('behind');
  one.release('a');
  expect((await one.place('b', departure))?.is).toBe('chosen');
  expect((await other.place('a', { ...departure, mayLeave: () => false }))?.is).toBe('behind');
  one.release('b');
  expect((await other.place('a', { leaves: 's1', selector: undefined, mayLeave: () => true }))?.is).toBe('chosen');
});

test('a choice that no status shows for ten minutes is given up', async () => {
  const fleet = new Fleet();
  await fleet.serve(1);
  for (const name of ['a', 'b']) await fleet.create(name);
  const [one, other] = [await fleet.start(), await fleet.start()];
  expect((await one.place('a'))?.is).toBe('chosen');
  expect((await other.place('b'))?.is).toBe('none');
  fleet.elapsedMs += 600_001;
  expect((await other.place('b'))?.is).toBe('chosen');
});

test('a choice of a manager at work is kept, however wrong clocks are', async () => {
  const fleet = new Fleet();
  await fleet.serve(1);
  for (const name of ['a', 'b']) await fleet.create(name);
  const [one, other] = [await fleet.start(), await fleet.start()];
  one.aheadMs = -3_600_000;
  expect((await one.place('a'))?.is).toBe('chosen');
  expect((await other.place('b'))?.is).toBe('none');
});

test.each(['{}', '{"floor":"x","choices":[]}', '{"floor":"1","choices":[{}]}'])(
  'nothing is chosen while the record cannot be read: %s',
  (text) => {
    expect(() => parseChoices(text)).toThrow('another version of the manager has written it');
  },
);

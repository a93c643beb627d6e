import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import fc from 'fast-check';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { listedInformers } from '../../../../testing/fake/listed-informers.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { DriverCapabilities } from '../../../../stores/driver.ts';
import { Placements } from './placements.ts';
import type { PlacementResult } from './placements.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';

const { signal } = new AbortController();

function readyStore(name: string, tenants?: number, over: Partial<DataStore> = {}): DataStore {
  const at = { observedGeneration: 1, lastTransitionTime: '2030-01-01T00:00:00Z' };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name }),
    spec: {
      driver: 'etcd',
      endpoints: ['etcd:2379'],
      ...(tenants !== undefined && { placement: { weight: 1, capacity: { tenants } } }),
    },
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', ...at }, verifiedIsolation] },
    ...over,
  };
}

const unplaced = (name: string, status?: TenantControlPlane['status']): TenantControlPlane =>
  tenantControlPlaneWith({
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: { dataStore: '' },
    status,
  });

const placedIn = (name: string, store: string): TenantControlPlane =>
  unplaced(name, { storage: { placement: { dataStoreName: store, score: 1, time: '2030-01-01T00:00:00Z' } } });

/** A process with what its caches show and what the API server holds; the two may differ. */
class Rig {
  readonly cluster = new FakeCluster();
  /** What the cache shows. */
  tenants: readonly TenantControlPlane[] = [];
  /** Deleted ones whose data is retained. */
  retained: readonly TenantControlPlane[] = [];
  /** What the cache shows; the API server holds the same unless a test stores something else. */
  stores: readonly DataStore[] = [];
  readonly memory = new ObjectMemory();
  readonly placements: Placements;

  constructor(
    options: {
      readonly namespace?: string;
      readonly defaultDataStore?: string;
      readonly capabilities?: DriverCapabilities;
    } = {},
  ) {
    this.placements = new Placements({
      memory: this.memory,
      allTenants: () => [...this.tenants, ...this.retained],
      cluster: this.cluster,
      informers: listedInformers({ TenantControlPlane: () => this.tenants, DataStore: () => this.stores }),
      defaultDataStore: options.defaultDataStore ?? '',
      namespace: options.namespace ?? '',
      stores: { capabilities: () => options.capabilities },
    });
  }

  async serve(stores: readonly DataStore[]): Promise<void> {
    await Promise.all(stores.map((store) => this.cluster.seed(dataStore, store)));
    this.stores = (await this.cluster.admin.list(dataStore)).items;
  }

  async place(tcp: TenantControlPlane): Promise<string> {
    return nameOf(await this.placements.place(tcp, signal));
  }
}

const nameOf = (placing: PlacementResult): string => (placing.is === 'chosen' ? placing.fit.name : placing.is);
const count = (names: readonly string[], one: string): number => names.filter((name) => name === one).length;

describe('Concurrent placements', () => {
  test('never exceed the capacity of a datastore and leave no room unused', async () => {
    const capacities = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 });
    const delays = fc.infiniteStream(fc.nat(3));
    await fc.assert(
      fc.asyncProperty(capacities, fc.integer({ min: 1, max: 14 }), delays, async (most, tenants, turns) => {
        const rig = new Rig();
        await rig.serve(most.map((tenantsAtMost, n) => readyStore(`s${n}`, tenantsAtMost)));
        rig.tenants = Array.from({ length: tenants }, (_, n) => unplaced(`t${n}`));
        rig.cluster.before(async () => {
          for (let turn = Number(turns.next().value); turn > 0; turn -= 1) await Promise.resolve();
        });
        const names = await Promise.all(rig.tenants.map((tcp) => rig.place(tcp)));
        const room = most.reduce((sum, one) => sum + one, 0);
        for (const [n, one] of most.entries()) expect(count(names, `s${n}`)).toBeLessThanOrEqual(one);
        expect(count(names, 'none')).toBe(Math.max(tenants - room, 0));
      }),
      { numRuns: 60 },
    );
  });

  test('are reserved from the choice until the cache shows the tenant in it', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('a', 1)]);
    rig.tenants = [unplaced('x'), unplaced('y')];
    expect(await rig.place(unplaced('x'))).toBe('a');
    expect(await rig.place(unplaced('x'))).toBe('a');
    expect(await rig.place(unplaced('y'))).toBe('none');
    rig.tenants = [placedIn('x', 'a'), unplaced('y')];
    expect(await rig.place(unplaced('y'))).toBe('none');
    rig.tenants = [unplaced('y')];
    expect(await rig.place(unplaced('y'))).toBe('a');
  });

  test.each<[string, (rig: Rig) => void]>([
    ['is gone', (rig) => (rig.tenants = [unplaced('y')])],
    [
      'is another one of the same name',
      (rig) => (rig.tenants = [{ ...unplaced('x'), metadata: { ...unplaced('x').metadata, uid: 'new' } }]),
    ],
    [
      'names another store by now',
      (rig) => (rig.tenants = [{ ...unplaced('x'), spec: { ...unplaced('x').spec, dataStore: 'b' } }]),
    ],
    [
      'was forgotten',
      (rig) => {
        rig.memory.drop('uid-x');
      },
    ],
  ])('are released when the tenant %s', async (_words, change) => {
    const rig = new Rig();
    await rig.serve([readyStore('a', 1)]);
    rig.tenants = [unplaced('x'), unplaced('y')];
    expect(await rig.place(unplaced('x'))).toBe('a');
    change(rig);
    expect(await rig.place(unplaced('y'))).toBe('a');
  });

  test('are released when no datastore fits the tenant anymore', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('a', 1)]);
    rig.tenants = [unplaced('x'), unplaced('y')];
    await rig.place(unplaced('x'));
    const choosy = {
      ...unplaced('x'),
      spec: { ...unplaced('x').spec, dataStoreSelector: { matchLabels: { a: 'b' } } },
    };
    expect(await rig.place(choosy)).toBe('none');
    expect(await rig.place(unplaced('y'))).toBe('a');
  });

  test('place no second tenant in a datastore whose driver serves only one with this spec', async () => {
    const servesOneTenant = ({ endpoints }: DataStore['spec']): boolean => endpoints.includes('single:4222');
    const rig = new Rig({ capabilities: { passwords: true, kine: true, opensUncopied: false, servesOneTenant } });
    const { spec } = readyStore('a');
    await rig.serve([readyStore('a', undefined, { spec: { ...spec, endpoints: ['single:4222'] } })]);
    rig.tenants = [unplaced('x'), unplaced('y')];
    expect(await rig.place(unplaced('x'))).toBe('a');
    expect(await rig.place(unplaced('y'))).toBe('none');
  });

  test('place no tenant in the room of a deleted one whose data is retained', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('a', 1)]);
    rig.retained = [placedIn('deleted', 'a')];
    expect(await rig.place(unplaced('x'))).toBe('none');
    rig.retained = [];
    expect(await rig.place(unplaced('x'))).toBe('a');
  });

  test('count tenants that name a datastore, that have a tenancy in it, and that have overrides there', async () => {
    const rig = new Rig({ defaultDataStore: 'd' });
    await rig.serve(['a', 'b', 'c', 'd', 'e'].map((name) => readyStore(name, 1)));
    const { spec } = unplaced('x');
    const made = { storage: { dataStoreName: 'c', setup: { schema: 's' } } };
    rig.tenants = [
      tenantControlPlaneWith({ metadata: { name: '1', namespace: 'n', uid: '1' }, spec: { dataStore: 'a' } }),
      {
        ...tenantControlPlaneWith({ metadata: { name: '2', namespace: 'n', uid: '2' }, status: made }),
        spec: { ...spec, dataStoreOverrides: [{ resource: '/events', dataStore: 'b' }] },
      },
      tenantControlPlaneWith({ metadata: { name: '3', namespace: 'n', uid: '3' }, spec: { dataStore: '' } }),
    ];
    const unplacedTenant = { ...unplaced('x'), spec: { ...spec, dataStoreSelector: {} } };
    expect(await rig.place(unplacedTenant)).toBe('e');
  });

  test('read the DataStore from the API server before they choose it', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('a'), readyStore('b', undefined), readyStore('c', undefined)]);
    const tainted = { placement: { weight: 1, taints: [{ key: 'full', effect: 'NoPlacement' }] } };
    await rig.cluster.admin.patch(dataStore, { name: 'a' }, { type: 'merge', body: { spec: tainted } });
    await rig.cluster.admin.delete(dataStore, { name: 'b' });
    expect(await rig.place(unplaced('x'))).toBe('c');
  });

  test('count tenants of other namespaces by the status of the DataStore if only one namespace is watched', async () => {
    const other = readyStore('a', 2, {
      status: { ...readyStore('a').status, usedBy: ['default/gone', 'else/1', 'else/2'] },
    });
    const rig = new Rig({ namespace: 'default' });
    await rig.serve([other]);
    expect(await rig.place(unplaced('x'))).toBe('none');
    const all = new Rig();
    await all.serve([other]);
    expect(await all.place(unplaced('x'))).toBe('a');
  });

  test('wait after a start until the cache shows the last choice of an earlier process', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('a', 1)]);
    const earlier = { ...placedIn('x', 'a'), metadata: { name: 'x', namespace: 'default' } };
    const stored = await rig.cluster.seed(tenantControlPlane, earlier);
    rig.tenants = [{ ...unplaced('x'), metadata: stored.metadata }, unplaced('y')];
    expect(await rig.place(unplaced('y'))).toBe('behind');
    rig.tenants = [stored, unplaced('y')];
    expect(await rig.place(unplaced('y'))).toBe('none');
    expect(rig.cluster.calls.filter(({ verb }) => verb === 'list')).toHaveLength(2);
    await rig.place(unplaced('y'));
    expect(rig.cluster.calls.filter(({ verb }) => verb === 'list')).toHaveLength(2);
  });
});

describe('The next DataStore of a tenant that leaves its own', () => {
  const leaving = (name: string): TenantControlPlane => placedIn(name, 'a');

  test('is neither the one that it leaves nor one that is drained', async () => {
    const rig = new Rig();
    const drained = readyStore('c', 9);
    await rig.serve([
      readyStore('a', 9),
      readyStore('b', 1),
      { ...drained, spec: { ...drained.spec, drain: { keep: 0, previousCopies: 'Retain' } } },
    ]);
    rig.tenants = [leaving('x'), leaving('y')];
    const departure = { leaves: 'a', selector: undefined };
    expect(nameOf(await rig.placements.place(leaving('x'), signal, departure))).toBe('b');
    const second = await rig.placements.place(leaving('y'), signal, departure);
    expect(second.is === 'none' && second.choice.refused).toEqual([
      { name: 'b', reasons: ['is full: it holds 1 of 1 tenants'] },
      { name: 'c', reasons: ['is being drained'] },
    ]);
  });

  test('has the required labels', async () => {
    const rig = new Rig();
    const gold = readyStore('c', 9);
    await rig.serve([readyStore('b', 9), { ...gold, metadata: { ...gold.metadata, labels: { tier: 'gold' } } }]);
    rig.tenants = [leaving('x')];
    const departure = { leaves: 'a', selector: { matchLabels: { tier: 'gold' } } };
    expect(nameOf(await rig.placements.place(leaving('x'), signal, departure))).toBe('c');
  });

  test('is the one where a migration has failed only if no other fits', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('b', 9), readyStore('c', 8)]);
    rig.tenants = [leaving('x')];
    const departure = { leaves: 'a', selector: undefined };
    expect(nameOf(await rig.placements.place(leaving('x'), signal, departure))).toBe('b');
    expect(nameOf(await rig.placements.place(leaving('x'), signal, { ...departure, avoids: 'b' }))).toBe('c');
    const alone = new Rig();
    await alone.serve([readyStore('b', 9)]);
    expect(nameOf(await alone.placements.place(leaving('x'), signal, { ...departure, avoids: 'b' }))).toBe('b');
  });

  test('is reserved until the cache shows that the tenant goes there, or it does not go', async () => {
    const rig = new Rig();
    await rig.serve([readyStore('b', 1)]);
    const departure = { leaves: 'a', selector: undefined };
    rig.tenants = [leaving('x'), unplaced('y')];
    await rig.placements.place(leaving('x'), signal, departure);
    rig.placements.release('uid-x');
    expect(await rig.place(unplaced('y'))).toBe('b');
    rig.placements.release('uid-y');
    rig.tenants = [leaving('x'), unplaced('y')];
    await rig.placements.place(leaving('x'), signal, departure);
    expect(await rig.place(unplaced('y'))).toBe('none');
    const { storage } = leaving('x').status ?? {};
    const drain = { from: 'a', named: '', dataStoreName: 'b' };
    const going = { ...leaving('x'), status: { storage: { ...storage, drain } } };
    const migration = {
      phase: 'Preparing' as const,
      source: { dataStoreName: 'a' },
      target: { dataStoreName: 'b' },
      startedAt: '2030-01-01T00:00:00Z',
    };
    rig.tenants = [{ ...going, status: { storage: { ...going.status.storage, migration } } }, unplaced('y')];
    expect(await rig.place(unplaced('y'))).toBe('none');
  });
});

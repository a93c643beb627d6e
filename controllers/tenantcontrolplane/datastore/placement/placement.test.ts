import { afterEach, describe, expect, test } from '@jest/globals';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreToleration } from '../../../../api/steward/v1alpha1/data-store-placement.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import { settle } from '../../../../testing/fake/fake-clock.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { crashPoints } from '../../../../testing/worlds/crash-points.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';

const opened: InformerFactory[] = [];
/** Only certificates are looked after by the clock. */
const dayMs = 24 * 60 * 60 * 1000;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((informers) => informers.close()));
});

interface Told {
  readonly labels?: Readonly<Record<string, string>>;
  readonly placement?: DataStore['spec']['placement'];
  readonly ready?: boolean;
}

/** A world whose caches follow what is stored. */
async function newWorld(stores: Readonly<Record<string, Told>>): Promise<TenantWorld> {
  const world = new TenantWorld({
    informers: ({ cluster, clock }) => {
      const informers = new InformerFactory({ cluster: cluster.admin, clock });
      opened.push(informers);
      // Like a manager, which reconciles nothing before its caches are complete.
      informers.informer({ kind: dataStore });
      informers.informer({ kind: tenantControlPlane });
      return informers;
    },
  });
  for (const [name, told] of Object.entries(stores)) await tell(world, name, told);
  return world;
}

/** Stores a DataStore with what its controller would say of it. */
async function tell(world: TenantWorld, name: string, { labels, placement, ready = true }: Told): Promise<void> {
  const spec = { driver: 'etcd', endpoints: [`${name}:2379`], placement };
  const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
  const stored = await world.cluster.seed(dataStore, {
    apiVersion,
    kind: 'DataStore',
    metadata: { name, labels },
    spec,
  });
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', reason: ready ? 'Ready' : 'Unreachable' };
  const at = { observedGeneration: stored.metadata.generation, lastTransitionTime: '2030-01-01T00:00:00Z' };
  const message = ready ? '' : `Reachable: ${name}:2379: no answer`;
  const body = { status: { conditions: [{ ...condition, ...at, message }, verifiedIsolation] } };
  await world.cluster.admin.patch(dataStore, { name }, { type: 'merge', body }, { subresource: 'status' });
  await settle();
}

/** The tenant, without a named DataStore; `create` of the world also stores one named default, which has no status. */
async function create(world: TenantWorld, spec: Partial<TenantControlPlane['spec']> = {}): Promise<void> {
  await world.create({ spec: { dataStore: '', ...spec } });
  await settle();
}

/** Reconciles until nothing changes, with up-to-date caches each time. */
async function work(world: TenantWorld): Promise<{ readonly afterMs?: number }> {
  await world.reconcile();
  await settle();
  return world.settle();
}

const tainted = (effect: 'NoPlacement' | 'PreferNoPlacement'): DataStore['spec']['placement'] => ({
  weight: 1,
  taints: [{ key: 'team', value: 'red', effect }],
});

describe('A TenantControlPlane without a named DataStore', () => {
  test('is placed in the best one, which is recorded before anything is created in it', async () => {
    const world = await newWorld({ a: { placement: tainted('PreferNoPlacement') }, b: {}, c: { ready: false } });
    await create(world);
    await world.reconcile();
    expect((await world.read()).status?.storage).toEqual({
      placement: {
        dataStoreName: 'b',
        score: 100,
        reasons: [
          'b: score 100: holds 0 tenants',
          'a: score 0: holds 0 tenants, has the taint team=red:PreferNoPlacement',
          'c: is not Ready: Reachable: c:2379: no answer',
          'default: has not been checked since it was created or changed',
        ],
        time: '2030-01-01T00:00:00Z',
      },
    });
    expect(world.store.calls).toEqual([]);
    expect(await world.secret('datastore-config')).toBeUndefined();
    expect(await world.condition('StoreReady')).toContain('False PlacementPending: DataStore b was chosen');
    await work(world);
    const { status } = await world.read();
    expect(status?.storage).toMatchObject({ dataStoreName: 'b', placement: { dataStoreName: 'b' } });
    expect(await world.condition('Ready')).toBe('True');
    const placed = status?.conditions?.find(({ type }) => type === 'Placed');
    expect(placed).toMatchObject({ status: 'True', reason: 'Placed' });
    expect(placed?.message).toMatch(/^DataStore b: b: score 100: holds 0 tenants; a: score 0/);
    const told = world.events.filter((event) => event.startsWith('Plac'));
    expect(told).toEqual([expect.stringMatching(/^Placed: DataStore b was chosen: b: score 100: .*; c: is not Ready/)]);
  });

  test('is reconciled again at once when it has been placed', async () => {
    const world = await newWorld({ a: {} });
    await create(world);
    expect(await world.reconcile()).toMatchObject({ afterMs: 0 });
  });

  test('stays where it was placed, whatever changes in the datastores and in its spec', async () => {
    const world = await newWorld({ a: {}, b: { placement: tainted('PreferNoPlacement') } });
    await create(world);
    await work(world);
    await tell(world, 'a', { placement: { ...tainted('NoPlacement'), weight: 1, capacity: { tenants: 0 } } });
    await tell(world, 'b', {});
    await world.change({ spec: { dataStoreSelector: { matchLabels: { tier: 'gold' } } } });
    world.restart();
    await work(world);
    expect((await world.read()).status?.storage).toMatchObject({
      dataStoreName: 'a',
      placement: { dataStoreName: 'a' },
    });
    expect(await world.condition('Placed')).toBe('True');
    await world.cluster.admin.delete(dataStore, { name: 'a' });
    await work(world);
    expect(await world.condition('StoreReady')).toContain('DataStore a does not exist');
  });

  test('waits without polling while none fits, reports what each lacks, and is placed when one does', async () => {
    const world = await newWorld({ a: { placement: tainted('NoPlacement') }, b: { ready: false } });
    await create(world, { dataStoreSelector: { matchLabels: { tier: 'gold' } } });
    await work(world);
    const { afterMs = 0 } = await work(world);
    expect(afterMs).toBeGreaterThan(dayMs);
    const message =
      'no DataStore fits: a: does not have the labels tier=gold, has the taint team=red:NoPlacement, which is not tolerated; ' +
      'b: does not have the labels tier=gold, is not Ready: Reachable: b:2379: no answer; ' +
      'default: does not have the labels tier=gold, has not been checked since it was created or changed. ' +
      'Change one of them, add one, or name one in spec.dataStore';
    expect(await world.condition('StoreReady')).toBe(`False NoDataStoreFits: ${message}`);
    expect(await world.condition('Placed')).toContain('False NoDataStoreFits');
    expect(await world.condition('Ready')).toContain('no DataStore fits');
    expect(world.events.filter((event) => event.includes('no DataStore fits'))).toHaveLength(1);
    expect(await world.deployment()).toBeUndefined();
    await world.change({ spec: { dataStoreTolerations: [{ key: 'team', operator: 'Exists' }] } });
    await tell(world, 'a', { labels: { tier: 'gold' }, placement: tainted('NoPlacement') });
    await work(world);
    await work(world);
    expect(await world.condition('Placed')).toBe('True');
    expect(await world.condition('Ready')).toBe('True');
  });

  test.each<[string, DataStoreToleration, string | undefined]>([
    ['its key with its value', { key: 'team', operator: 'Equal', value: 'red' }, 'a'],
    ['its key with another value', { key: 'team', operator: 'Equal', value: 'blue' }, undefined],
    ['its key with any value', { key: 'team', operator: 'Exists' }, 'a'],
    ['another key', { key: 'crew', operator: 'Exists' }, undefined],
    ['its key with another effect', { key: 'team', operator: 'Exists', effect: 'PreferNoPlacement' }, undefined],
  ])('is placed in a tainted one only if it tolerates the taint, here %s', async (_words, toleration, store) => {
    const world = await newWorld({ a: { placement: tainted('NoPlacement') } });
    await create(world, { dataStoreTolerations: [toleration] });
    await work(world);
    expect((await world.read()).status?.storage?.dataStoreName).toBe(store);
  });

  test('uses the one that is named while it waits', async () => {
    const world = await newWorld({ a: { placement: tainted('NoPlacement') } });
    await create(world);
    await work(world);
    expect(await world.condition('Placed')).toContain('NoDataStoreFits');
    await world.change({ spec: { dataStore: 'a' } });
    await work(world);
    expect((await world.read()).status?.conditions?.find(({ type }) => type === 'Placed')?.reason).toBe('Named');
    expect((await world.read()).status?.storage).toMatchObject({ dataStoreName: 'a' });
    expect((await world.read()).status?.storage).not.toHaveProperty('placement');
  });

  test('reports the datastore as named when its data was migrated away from the chosen one', async () => {
    const world = await newWorld({});
    const at = { reason: 'Placed', message: 'DataStore a: a: score 100', lastTransitionTime: '2030-01-01T00:00:00Z' };
    const placement = { dataStoreName: 'a', score: 100, time: '2030-01-01T00:00:00Z' };
    const storage = { driver: 'etcd', dataStoreName: 'default', setup: { schema: 's', user: 's' }, placement };
    await world.create({
      spec: { dataStore: 'default' },
      status: { storage, conditions: [{ type: 'Placed', status: 'True', ...at }] },
    });
    await world.settle();
    const { status } = await world.read();
    expect(status?.conditions?.find(({ type }) => type === 'Placed')).toMatchObject({
      status: 'True',
      reason: 'Named',
    });
    expect(status?.storage).toMatchObject({ dataStoreName: 'default', placement });
  });

  test('has no condition Placed if it never waited for a placement', async () => {
    const world = await newWorld({});
    await world.create();
    await world.settle();
    expect(await world.condition('Placed')).toBe('absent');
  });

  test('is placed once, after a crash at any call, and nothing is created before that is recorded', async () => {
    const counted = await newWorld({ a: {} });
    await create(counted);
    const before = counted.cluster.calls.length;
    await counted.reconcile();
    await counted.reconcile();
    expect(counted.store.calls).toContain('ensure');
    const total = counted.cluster.calls.length - before;
    expect(total).toBeGreaterThan(15);
    for (const calls of crashPoints(total, 'placement')) {
      const world = await newWorld({ a: {}, b: { placement: tainted('PreferNoPlacement') } });
      await create(world);
      world.cluster.crashAfter(calls, { losesAnswer: true });
      for (let reconciles = 0; reconciles < 20 && !world.cluster.crashed; reconciles += 1) await world.reconcile();
      const recorded = (await world.read()).status?.storage?.placement?.dataStoreName;
      if (world.store.calls.length > 0) expect({ calls, recorded }).toEqual({ calls, recorded: 'a' });
      // Now the other one is the better.
      await tell(world, 'a', { placement: tainted('PreferNoPlacement') });
      await tell(world, 'b', {});
      world.restart();
      await work(world);
      await work(world);
      const { status } = await world.read();
      expect({ calls, name: status?.storage?.dataStoreName }).toEqual({ calls, name: recorded ?? 'b' });
      expect(status?.storage?.placement?.dataStoreName).toBe(recorded ?? 'b');
      expect(world.store.tenancies.size).toBe(1);
    }
  }, 120_000);
});

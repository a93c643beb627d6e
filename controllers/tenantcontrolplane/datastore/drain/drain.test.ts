import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { annotations } from '../../../../api/names.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreDrain } from '../../../../api/steward/v1alpha1/data-store-drain.ts';
import type { DataStoreSpec } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import { settle } from '../../../../testing/fake/fake-clock.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';
import { MigrationWorld } from '../../../../testing/worlds/migration-world.ts';

// Each of some thirty reconciles sends everything again.
jest.setTimeout(60_000);

const opened: InformerFactory[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((informers) => informers.close()));
});

/** A tenant that runs on DataStore `default`, beside the DataStore `other`; its caches follow what is stored. */
async function running(changes: TenantControlPlaneChanges = {}): Promise<MigrationWorld> {
  const world = new MigrationWorld({
    informers: ({ cluster, clock }) => {
      const informers = new InformerFactory({ cluster: cluster.admin, clock });
      opened.push(informers);
      informers.informer({ kind: dataStore });
      informers.informer({ kind: tenantControlPlane });
      return informers;
    },
  });
  await world.running(changes);
  await ready(world, 'default');
  await ready(world, 'other');
  return world;
}

/** What the controller of DataStores would say. */
async function ready(world: MigrationWorld, name: string, isReady = true): Promise<void> {
  const { metadata } = (await world.cluster.admin.get(dataStore, { name })) ?? {};
  const condition = {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    reason: isReady ? 'Ready' : 'Unreachable',
    message: isReady ? '' : 'no answer',
    observedGeneration: metadata?.generation,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  };
  const body = { status: { conditions: [condition, verifiedIsolation] } };
  await world.cluster.admin.patch(dataStore, { name }, { type: 'merge', body }, { subresource: 'status' });
  await settle();
}

async function changeStore(world: MigrationWorld, name: string, spec: Partial<DataStoreSpec> | { drain: null }) {
  await world.cluster.admin.patch(dataStore, { name }, { type: 'merge', body: { spec } });
  await ready(world, name);
}

const everybody: DataStoreDrain = { keep: 0, previousCopies: 'Retain' };

const drain = async (world: MigrationWorld, more: Partial<DataStoreDrain> = {}, name = 'default'): Promise<void> =>
  changeStore(world, name, { drain: { ...everybody, ...more } });

/** Manager and process work by turns, with caches up to date. */
async function migrate(world: MigrationWorld): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await world.reconcile();
    await settle();
  }
  await world.migrate();
  await settle();
  await world.settle();
}

const storage = async (world: MigrationWorld) => (await world.read()).status?.storage;

/** The migration that begins next fails. */
async function fail(world: MigrationWorld): Promise<void> {
  await world.reconcile();
  await settle();
  await world.until('Copying');
  await world.say({ failure: 'the disk is full' });
  await migrate(world);
  expect((await storage(world))?.migration?.phase).toBe('Failed');
}

describe('A tenant whose DataStore is drained', () => {
  test('is migrated to another one, while its spec stays as its author wrote it', async () => {
    const world = await running();
    await drain(world);
    await world.reconcile();
    expect((await storage(world))?.drain).toEqual({
      from: 'default',
      named: 'default',
      dataStoreName: 'other',
      time: '2030-01-01T00:00:00.000Z',
    });
    expect((await storage(world))?.migration).toBeUndefined();
    expect(world.events.join('\n')).toContain(
      'Draining: DataStore default is being drained: the data will be migrated to other',
    );
    await migrate(world);
    expect(await storage(world)).toMatchObject({
      dataStoreName: 'other',
      drain: { from: 'default', named: 'default', dataStoreName: 'other' },
      migration: { phase: 'Succeeded' },
      previous: [{ dataStoreName: 'default' }],
    });
    expect((await world.read()).spec.dataStore).toBe('default');
    expect(await world.condition('Ready')).toBe('True');
  });

  test('stays where it was migrated, whatever becomes of the drain and of the DataStore', async () => {
    const world = await running();
    await drain(world);
    await migrate(world);
    await changeStore(world, 'default', { drain: null });
    await world.settle();
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', migration: { phase: 'Succeeded' } });
    await world.cluster.admin.delete(dataStore, { name: 'default' });
    await settle();
    await world.change({ metadata: { labels: { changed: 'yes' } } });
    await world.settle();
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', migration: { phase: 'Succeeded' } });
    expect(await world.condition('Ready')).toBe('True');
  });

  test('is migrated to the DataStore in its spec once that is changed, and the record of the drain is removed', async () => {
    const world = await running();
    await drain(world);
    await migrate(world);
    await world.change({ spec: { dataStore: 'other' } });
    await world.settle();
    const { drain: record, dataStoreName, migration } = (await storage(world)) ?? {};
    expect({ record, dataStoreName, phase: migration?.phase }).toEqual({
      record: undefined,
      dataStoreName: 'other',
      phase: 'Succeeded',
    });
  });

  test('stays when the drain is removed before its pods are switched, and the target is empty', async () => {
    const world = await running();
    await drain(world);
    await world.until('Copying');
    await changeStore(world, 'default', { drain: null });
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'default', migration: { phase: 'Cancelled' } });
    expect((await storage(world))?.drain).toBeUndefined();
    expect(world.target.tenancies.size).toBe(0);
    await world.settle();
    expect((await storage(world))?.migration?.phase).toBe('Cancelled');
  });

  test('is not taken back when the drain is removed after its pods were switched', async () => {
    const world = await running();
    await drain(world);
    await world.until('Switching');
    await changeStore(world, 'default', { drain: null });
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', migration: { phase: 'Succeeded' } });
  });

  test('waits with the reasons while no other DataStore can take it, and leaves once one can', async () => {
    const world = await running();
    await changeStore(world, 'other', { allowedNamespaces: { names: ['elsewhere'] } });
    await drain(world);
    await world.settle();
    const record = (await storage(world))?.drain;
    expect(record?.dataStoreName).toBeUndefined();
    expect(record?.message).toContain('no other DataStore fits: other: accepts no tenants from namespace default');
    expect((await storage(world))?.migration).toBeUndefined();
    await changeStore(world, 'other', { allowedNamespaces: { names: ['default'] } });
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', drain: { from: 'default' } });
    expect((await storage(world))?.drain?.message).toBeUndefined();
  });

  test('is migrated only to DataStores with the labels that the drain requires', async () => {
    const world = await running();
    await drain(world, { targetSelector: { matchLabels: { tier: 'gold' } } });
    await world.settle();
    expect((await storage(world))?.drain?.message).toContain(
      'other: does not have the labels tier=gold, which the drain requires',
    );
    const labels = { metadata: { labels: { tier: 'gold' } } };
    await world.cluster.admin.patch(dataStore, { name: 'other' }, { type: 'merge', body: labels });
    await settle();
    await migrate(world);
    expect((await storage(world))?.dataStoreName).toBe('other');
  });

  test('is tried again ten minutes after a migration that failed, then twenty, and its author changes nothing about that', async () => {
    const world = await running();
    await drain(world);
    await fail(world);
    const record = (await storage(world))?.drain;
    expect(record).toMatchObject({ failures: 1, failedDataStoreName: 'other' });
    expect(record?.dataStoreName).toBeUndefined();
    expect(record?.message).toContain(
      'the migration to DataStore other failed: the disk is full; the next attempt is at',
    );
    expect(await world.condition('Ready')).toBe('True');
    // By then no request of the migration is under way.
    await world.clock.advance(2 * 60_000);
    const { afterMs } = await world.settle();
    expect(afterMs).toBeGreaterThan(7 * 60_000);
    expect(afterMs).toBeLessThanOrEqual(8 * 60_000);
    await world.change({ metadata: { labels: { changed: 'yes' } }, spec: { dataStoreTolerations: [] } });
    await world.settle();
    expect((await storage(world))?.migration?.phase).toBe('Failed');
    await world.clock.advance(10 * 60_000);
    await fail(world);
    expect((await storage(world))?.drain?.failures).toBe(2);
    await world.clock.advance(20 * 60_000 - 1_000);
    await world.settle();
    expect((await storage(world))?.drain?.dataStoreName).toBeUndefined();
    await world.clock.advance(1_000);
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', migration: { phase: 'Succeeded' } });
  });

  test('is migrated to another DataStore than the one where it failed, if there is one', async () => {
    const world = await running();
    await drain(world);
    await fail(world);
    await world.addStoreBeside('third');
    await ready(world, 'third');
    await world.clock.advance(10 * 60_000);
    await world.reconcile();
    expect((await storage(world))?.drain?.dataStoreName).toBe('third');
  });

  test('is given up for a target that cannot be used for five minutes before anything is copied', async () => {
    const world = await running();
    await drain(world);
    await world.reconcile();
    await ready(world, 'other', false);
    await world.reconcile();
    expect((await storage(world))?.migration?.phase).toBe('Preparing');
    await world.clock.advance(5 * 60_000);
    await world.reconcile();
    expect((await storage(world))?.migration?.phase).toBe('Preparing');
    await world.clock.advance(1_000);
    await migrate(world);
    expect((await storage(world))?.migration?.phase).toBe('Failed');
    expect((await storage(world))?.drain?.message).toContain('it could not begin: DataStore other cannot be used');
  });

  test('waits while its own DataStore cannot be used', async () => {
    const world = await running();
    await drain(world);
    await ready(world, 'default', false);
    await world.reconcile();
    expect((await storage(world))?.drain?.message).toBe('DataStore default cannot be used: no answer');
    await ready(world, 'default');
    await world.reconcile();
    expect((await storage(world))?.drain?.dataStoreName).toBe('other');
  });

  test('waits while the control plane has no endpoint, which its condition explains', async () => {
    const world = await running();
    await world.change({
      spec: { controlPlane: { ...(await world.read()).spec.controlPlane, service: { serviceType: 'LoadBalancer' } } },
    });
    await world.settle();
    await drain(world);
    await world.reconcile();
    const { drain: record } = (await storage(world)) ?? {};
    // Until the new Service has an address, the previous endpoint counts.
    expect(record?.dataStoreName ?? record?.message).toMatch(/^other$|has no endpoint yet/);
  });

  test('frees the place that was reserved for it when it stays', async () => {
    const world = await running();
    await changeStore(world, 'other', { placement: { weight: 1, capacity: { tenants: 1 } } });
    await drain(world);
    await world.reconcile();
    await settle();
    await changeStore(world, 'default', { drain: null });
    await world.settle();
    await settle();
    await drain(world);
    await world.reconcile();
    expect((await storage(world))?.drain?.dataStoreName).toBe('other');
  });

  test('waits while another tenant leaves, and leaves when that one has', async () => {
    const world = await running();
    const key = { namespace: 'default', name: 'first' };
    const leaving = (dataStoreName: string) => ({
      storage: {
        setup: { schema: 'first' },
        dataStoreName,
        drain: { from: 'default', named: 'default', dataStoreName: 'other', time: world.clock.now().toISOString() },
      },
    });
    const { apiVersion, kind, spec } = await world.read();
    await world.cluster.seed(tenantControlPlane, { apiVersion, kind, metadata: key, spec, status: leaving('default') });
    await settle();
    await drain(world);
    await world.settle();
    expect((await storage(world))?.drain).toBeUndefined();
    const body = { status: leaving('other') };
    await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await settle();
    await world.reconcile();
    expect((await storage(world))?.drain?.dataStoreName).toBe('other');
  });

  test('continues to leave while its DataStore is being deleted', async () => {
    const world = await running();
    await drain(world);
    const finalizers = { metadata: { finalizers: ['test/in-use'] } };
    await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body: finalizers });
    await world.until('Copying');
    await world.cluster.admin.delete(dataStore, { name: 'default' });
    await settle();
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', migration: { phase: 'Succeeded' } });
  });

  test('says what to change when its data cannot be migrated at all', async () => {
    const world = await running();
    await world.leadTo('events', world.target);
    await world.change({ spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] } });
    await drain(world);
    await world.reconcile();
    expect((await storage(world))?.drain?.message).toContain('remove the overrides first');
  });

  test('stays while it is one of those that are to stay', async () => {
    const world = await running();
    await drain(world, { keep: 1 });
    await world.settle();
    expect((await storage(world))?.drain).toBeUndefined();
    expect((await storage(world))?.dataStoreName).toBe('default');
  });

  test('has its old copy removed if the drain requests that', async () => {
    const world = await running();
    await drain(world, { previousCopies: 'Remove' });
    await migrate(world);
    expect(world.store.tenancies.size).toBe(0);
    expect(world.target.tenancies.size).toBe(1);
    expect((await storage(world))?.previous).toBeUndefined();
    expect(world.events.join('\n')).toContain('is removed, as its spec.drain requests');
  });

  test('keeps its old copy while the DataStore cannot be used, or no longer requests the removal', async () => {
    const world = await running();
    await drain(world);
    await migrate(world);
    await drain(world, { previousCopies: 'Remove' });
    await ready(world, 'default', false);
    await world.settle();
    expect(world.store.tenancies.size).toBe(1);
    // The cache still shows what was asked for.
    await world.cluster.admin.patch(
      dataStore,
      { name: 'default' },
      { type: 'merge', body: { spec: { drain: { previousCopies: 'Retain' } } } },
    );
    await world.reconcile();
    await settle();
    await ready(world, 'default');
    await world.settle();
    expect(world.store.tenancies.size).toBe(1);
  });

  test('is migrated on when its new DataStore is drained, too, and stays there when that ends early', async () => {
    const world = await running();
    await drain(world);
    await migrate(world);
    const third = await world.addStoreBeside('third');
    await ready(world, 'third');
    await drain(world, {}, 'other');
    await world.until('Copying');
    expect((await storage(world))?.migration?.target.dataStoreName).toBe('third');
    await changeStore(world, 'other', { drain: null });
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', migration: { phase: 'Cancelled' } });
    expect(third.tenancies.size).toBe(0);
    await drain(world, {}, 'other');
    await migrate(world);
    expect(await storage(world)).toMatchObject({ dataStoreName: 'third', drain: { from: 'other', named: 'default' } });
  });

  test('that was placed says in its condition where it is now', async () => {
    const world = await running({ spec: { dataStore: '', dataStoreSelector: {} } });
    await settle();
    await ready(world, 'other', false);
    await world.settle();
    await settle();
    await world.settle();
    expect((await storage(world))?.dataStoreName).toBe('default');
    await ready(world, 'other');
    await drain(world);
    await migrate(world);
    const placed = (await world.read()).status?.conditions?.find(({ type }) => type === 'Placed');
    expect(placed).toMatchObject({
      status: 'True',
      reason: 'Drained',
      message: 'DataStore default was drained, and the data was migrated to other',
    });
    expect(await storage(world)).toMatchObject({ dataStoreName: 'other', drain: { named: '' } });
  });

  test('is not moved while its reconciliation is paused, and not while it is being moved by its author', async () => {
    const world = await running();
    await world.change({ metadata: { annotations: { [annotations.paused]: '' } } });
    await drain(world);
    await world.settle();
    expect((await storage(world))?.drain).toBeUndefined();
    await world.change({ metadata: { annotations: { [annotations.paused]: null } }, spec: { dataStore: 'other' } });
    await migrate(world);
    expect((await storage(world))?.drain).toBeUndefined();
    expect((await storage(world))?.dataStoreName).toBe('other');
  });
});

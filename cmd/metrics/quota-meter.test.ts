import { describe, expect, test } from '@jest/globals';

import type { Key } from '../../api/meta.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../testing/builders/tenant-control-plane.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { MemoryStore } from '../../testing/fake/memory-driver.ts';
import { QuotaMeter } from './quota-meter.ts';

const uid = '0dd5c1a0-4b0c-4b0e-9d55-6b8d6b3f9c11';
const mine = { schema: 'mine', user: 'mine', owner: uid };
const storage = { dataStoreName: 'default', setup: { schema: 'mine', user: 'mine' } };
const quota = { objects: 10, warnAtPercent: 80 };

const dataStore: DataStore = {
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: { name: 'default', uid: 'x', resourceVersion: '1', generation: 1 },
  spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
};

/** A tenant with data whose meter runs. */
async function setUp(changes: TenantControlPlaneChanges = {}) {
  const clock = new FakeClock();
  const memory = new MemoryStore();
  const stores = new StoreAccess({
    ...{ drivers: [memory.driver], sessions: new Sessions({ clock }), read: () => Promise.resolve(undefined) },
  });
  const opened = await stores.open(dataStore, new AbortController().signal);
  await opened.use((session) => session.ensure(mine));
  const tenants: TenantControlPlane[] = [tenantControlPlaneWith({ status: { storage }, spec: { quota }, ...changes })];
  const enqueued: Key[] = [];
  const meter = new QuotaMeter({
    ...{ clock, log: silent, memory: new ObjectMemory() },
    facts: () => ({ tenants, dataStores: [dataStore], stores, defaultDataStore: '' }),
    enqueue: (key) => enqueued.push(key),
  });
  const write = (count: number): void => {
    for (let each = 0; each < count; each += 1)
      memory.dataOf('mine').tenantWrites({ is: 'put', entry: { key: `k${each}`, value: new Uint8Array(1) } });
  };
  meter.start();
  await clock.advance(0);
  return { clock, memory, meter, enqueued, write, tenants };
}

test('a tenant with a quota is measured within seconds of a change, and reconciled when something follows', async () => {
  const { clock, meter, enqueued, write } = await setUp();
  expect(meter.measurementOf(uid).found).toMatchObject({ keys: 0, bytes: 0 });
  // Nothing was recorded yet.
  expect(enqueued).toEqual([{ namespace: 'default', name: 'tenant' }]);
  write(10);
  await clock.advance(4_000);
  expect(meter.measurementOf(uid)).toEqual({ found: { keys: 10, bytes: 30, time: new Date('2030-01-01T00:00:03Z') } });
  meter.close();
});

test('a failed measurement is known with its error, and tried again after ten seconds', async () => {
  const { clock, memory, meter, write } = await setUp();
  write(3);
  memory.failure = new Error('the disk is full');
  await clock.advance(5_000);
  expect(meter.measurementOf(uid)).toMatchObject({ failure: 'the disk is full', found: { keys: 0 } });
  memory.failure = undefined;
  await clock.advance(12_000);
  expect(meter.measurementOf(uid)).toMatchObject({ found: { keys: 3 } });
  expect(meter.measurementOf(uid).failure).toBeUndefined();
  meter.close();
});

test.each<readonly [string, TenantControlPlaneChanges]>([
  ['without a quota', { spec: {} }],
  ['that sleeps', { spec: { quota }, deployment: { replicas: 0 } }],
  ['without data', { status: { storage: { dataStoreName: 'default' } } }],
  ['that is being deleted', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }],
])('a tenant %s is not measured', async (_, changes) => {
  const { clock, memory, meter, enqueued } = await setUp(changes);
  await clock.advance(60_000);
  expect([meter.measurementOf(uid), enqueued]).toEqual([{}, []]);
  expect(memory.calls.filter((call) => call.startsWith('measure'))).toEqual([]);
  meter.close();
});

describe('The writes of a tenant whose quota limits them', () => {
  const writesPerSecond = 10;
  const limited: TenantControlPlaneChanges = { spec: { quota: { writesPerSecond, warnAtPercent: 80 } } };
  const emptied = (meter: QuotaMeter): unknown => meter.measurementOf(uid).writes?.found?.isEmpty;

  test('are counted every few seconds, and nothing else of it is read', async () => {
    const { clock, memory, meter, enqueued, write } = await setUp(limited);
    expect(meter.measurementOf(uid).writes).toMatchObject({ found: { limit: 10, isEmpty: false } });
    write(30);
    await clock.advance(3_000);
    expect(meter.measurementOf(uid).writes?.found?.perSecond).toBe(10);
    expect(meter.writesOf(uid)).toBe(30);
    write(700);
    await clock.advance(4_000);
    expect(emptied(meter)).toBe(true);
    expect(enqueued.length).toBeGreaterThan(0);
    expect(memory.calls).not.toContain('measure');
    // It owes what it has written beyond.
    await clock.advance(60_000);
    expect(emptied(meter)).toBe(false);
    meter.close();
  });

  test('are known to be too many from the start where that was recorded', async () => {
    const record = (measuredTime: string) => ({
      ...{ hard: { writesPerSecond }, used: { writesPerSecond: 99 }, measuredTime },
      ...{ blocked: true, reached: ['writesPerSecond'] as const },
    });
    const at = (measuredTime: string) => setUp({ ...limited, status: { storage, quota: record(measuredTime) } });
    const { clock, meter } = await at('2029-12-31T23:59:00Z');
    expect(emptied(meter)).toBe(true);
    await clock.advance(31_000);
    expect(emptied(meter)).toBe(false);
    meter.close();
    const late = await at('2029-12-31T23:00:00Z');
    expect(emptied(late.meter)).toBe(false);
    late.meter.close();
  });

  test('are not those of a migration', async () => {
    const share = { dataStoreName: 'default', schema: 'mine', user: 'mine' };
    const target = { ...share, dataStoreName: 'other' };
    const migration = { phase: 'Copying' as const, source: share, target, startedAt: '2030-01-01T00:00:00Z' };
    const { clock, meter, write } = await setUp({ ...limited, status: { storage: { ...storage, migration } } });
    write(5000);
    await clock.advance(4_000);
    expect(meter.measurementOf(uid).writes?.found).toMatchObject({ perSecond: 0, isEmpty: false });
    meter.close();
  });

  test('are not those of a restore, during which it sleeps', async () => {
    const { clock, meter, write, tenants } = await setUp(limited);
    write(5000);
    const restored = { annotations: { 'backup.steward.butlerlabs.dev/restored': '2030-01-01T00:00:00Z task' } };
    tenants[0] = tenantControlPlaneWith({ ...limited, status: { storage }, metadata: restored });
    await clock.advance(4_000);
    expect(meter.measurementOf(uid).writes?.found).toMatchObject({ perSecond: 0, isEmpty: false });
    write(5000);
    await clock.advance(4_000);
    expect(emptied(meter)).toBe(true);
    meter.close();
  });

  test('are not known while they cannot be counted, and why is', async () => {
    const { clock, memory, meter } = await setUp(limited);
    memory.failure = new Error('the disk is full');
    await clock.advance(5_000);
    expect(meter.measurementOf(uid).writes).toMatchObject({ failure: 'the disk is full', found: { isEmpty: false } });
    await clock.advance(600_000);
    expect(meter.writesOf(uid)).toBeUndefined();
    meter.close();
  });

  test('are not counted for a tenant without that limit', async () => {
    const { clock, memory, meter } = await setUp();
    await clock.advance(60_000);
    expect(memory.calls).not.toContain('countWrites');
    expect([meter.writesOf(uid), meter.measurementOf(uid).writes]).toEqual([undefined, undefined]);
    meter.close();
  });
});

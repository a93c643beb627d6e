import { expect, test } from '@jest/globals';

import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import type { Tenancy } from '../../stores/driver.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../testing/builders/tenant-control-plane.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { MemoryStore } from '../../testing/fake/memory-driver.ts';
import { meteredTenants } from './metered-tenants.ts';

const signal = new AbortController().signal;
const mine: Tenancy = { schema: 'mine', user: 'mine', owner: '0dd5c1a0-4b0c-4b0e-9d55-6b8d6b3f9c11' };

const dataStore = (name: string, endpoint: string): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: { name, uid: name, resourceVersion: '1', generation: 1 },
  spec: { driver: 'etcd', endpoints: [endpoint] },
});

/** Two DataStores, in both of which the tenant has a key with a value of so many bytes. */
async function setUp(bytes: { readonly main: number; readonly events: number }) {
  const memory = new MemoryStore();
  const events = memory.beside('events:2379');
  const sessions = new Sessions({ clock: new FakeClock() });
  const stores = new StoreAccess({ drivers: [memory.driver], sessions, read: () => Promise.resolve(undefined) });
  const dataStores = [dataStore('default', 'main:2379'), dataStore('events', 'events:2379')];
  for (const [at, store, size] of [
    [dataStores[0], memory, bytes.main],
    [dataStores[1], events, bytes.events],
  ] as const) {
    if (at === undefined) throw new Error('there is no DataStore');
    await (await stores.open(at, signal)).use((session) => session.ensure(mine));
    store.dataOf('mine').tenantWrites({ is: 'put', entry: { key: 'k', value: new Uint8Array(size) } });
  }
  const metered = (changes: TenantControlPlaneChanges, known = dataStores) =>
    meteredTenants({ tenants: [tenantControlPlaneWith(changes)], dataStores: known, stores, defaultDataStore: '' });
  return { metered, dataStores };
}

const storage = {
  dataStoreName: 'default',
  setup: { schema: 'mine', user: 'mine' },
  overrides: [
    { resource: '/events', dataStoreName: 'events', schema: 'mine', user: 'mine' },
    { resource: '/leases', dataStoreName: 'events', schema: 'mine', user: 'mine' },
  ],
};

test('the data of a tenant is that in its DataStore and in those of overrides, each counted once', async () => {
  const { metered } = await setUp({ main: 100, events: 30 });
  const [tenant] = metered({ status: { storage } });
  expect(tenant?.uid).toBe('0dd5c1a0-4b0c-4b0e-9d55-6b8d6b3f9c11');
  expect(await tenant?.measure(signal)).toEqual({ bytes: 132, content: { keys: 2, bytes: 132 }, writes: 2 });
});

test('the size is unknown while a part of it is', async () => {
  const { metered, dataStores } = await setUp({ main: 100, events: 30 });
  expect(await metered({ status: { storage } }, dataStores.slice(0, 1))[0]?.measure(signal)).toBeUndefined();
  const gone = { ...storage, setup: { schema: 'gone', user: 'gone' } };
  expect(await metered({ status: { storage: gone } })[0]?.measure(signal)).toBeUndefined();
});

test('the data of another tenant is not measured, whatever the status says', async () => {
  const { metered } = await setUp({ main: 100, events: 30 });
  const [tenant] = metered({ metadata: { uid: 'another' }, status: { storage } });
  await expect(tenant?.measure(signal)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
});

test('tenants without data, and those that are being deleted, are not measured', async () => {
  const { metered } = await setUp({ main: 100, events: 30 });
  expect(metered({ status: { storage: { dataStoreName: 'default' } } })).toEqual([]);
  expect(metered({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' }, status: { storage } })).toEqual([]);
});

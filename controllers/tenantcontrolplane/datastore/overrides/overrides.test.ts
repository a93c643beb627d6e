import { describe, expect, test } from '@jest/globals';
import type { Resource } from '../../../../api/meta.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations } from '../../../../api/names.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlaneSpec } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import type { MemoryStore } from '../../../../testing/fake/memory-driver.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { usersOf } from '../../../datastore/status.ts';

const key = { namespace: 'default', name: 'tenant' };
const events = { resource: '/events', dataStore: 'events' };
const leases = { resource: 'coordination.k8s.io/leases', dataStore: 'events' };

interface Stage {
  readonly world: TenantWorld;
  readonly second: MemoryStore;
}

type Overrides = NonNullable<TenantControlPlaneSpec['dataStoreOverrides']>;

async function created(dataStoreOverrides: Overrides = [events]): Promise<Stage> {
  const world = new TenantWorld();
  const second = await world.addStoreBeside('events');
  await world.create({ spec: { dataStore: 'default', dataStoreOverrides } });
  return { world, second };
}

async function running(overrides?: Overrides): Promise<Stage> {
  const stage = await created(overrides);
  await stage.world.settle();
  return stage;
}

const setOverrides = (world: TenantWorld, dataStoreOverrides: Overrides): Promise<void> =>
  world.change({ spec: { dataStoreOverrides } });

async function flag(world: TenantWorld): Promise<string | undefined> {
  const containers = (await world.deployment())?.spec?.template.spec?.containers ?? [];
  const args = containers.find(({ name }) => name === 'kube-apiserver')?.args ?? [];
  return args.find((arg) => arg.startsWith('--etcd-servers-overrides='))?.replace('--etcd-servers-overrides=', '');
}

const recorded = async (world: TenantWorld): Promise<readonly string[]> =>
  ((await world.read()).status?.storage?.overrides ?? []).map(
    ({ resource, dataStoreName, checksum }) =>
      `${resource} in ${dataStoreName}${checksum === undefined ? ', to be made' : ''}`,
  );

const text = (data: Readonly<Record<string, string>> | undefined, name: string): string =>
  Buffer.from(data?.[name] ?? '', 'base64').toString();

const deletion = async (world: TenantWorld): Promise<string> =>
  (await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting')?.message ?? '';

describe('A tenant with resources in another datastore', () => {
  test('gets a tenancy in it with the names of its main tenancy, and its API server is configured', async () => {
    const { world, second } = await running([leases, events]);
    const { setup, overrides } = (await world.read()).status?.storage ?? {};
    const [main] = [...world.store.tenancies.values()];
    const shares = [...second.tenancies.values()];
    expect(shares).toHaveLength(1);
    expect(shares[0]).toMatchObject({ schema: setup?.schema, user: setup?.user });
    expect(shares[0]?.owner).toBe(`${main?.owner ?? ''}/overrides/events`);
    expect(overrides).toMatchObject([
      { resource: '/events', dataStoreName: 'events', schema: setup?.schema, user: setup?.user },
      { resource: 'coordination.k8s.io/leases', dataStoreName: 'events' },
    ]);
    expect(overrides?.every(({ checksum, lastUpdate }) => checksum !== undefined && lastUpdate !== undefined)).toBe(
      true,
    );
    expect(await flag(world)).toBe('/events#https://events:2379,coordination.k8s.io/leases#https://events:2379');
    expect(await world.condition('StoreReady')).toBe('True');
    expect(await world.condition('Ready')).toBe('True');
  });

  test('gets credentials in a separate Secret and keeps those of its main datastore unchanged', async () => {
    const { world } = await running([]);
    const before = (await world.secret('datastore-certificate'))?.data;
    expect(await world.secret('datastore-overrides-certificate')).toBeUndefined();
    await setOverrides(world, [events]);
    await world.settle();
    const secret = await world.secret('datastore-overrides-certificate');
    expect(secret?.metadata.ownerReferences?.[0]?.name).toBe('tenant');
    expect(secret?.metadata.labels).toMatchObject({
      'steward.butlerlabs.dev/component': 'datastore-overrides-certificate',
    });
    expect(text(secret?.data, 'ca.crt')).toBe('ca of etcd:2379\nca of events:2379\n');
    expect(Object.keys(secret?.data ?? {}).sort()).toEqual(['ca.crt', 'server.crt', 'server.key']);
    expect((await world.secret('datastore-certificate'))?.data).toEqual(before);
    const status = (await world.read()).status?.storage;
    expect(status?.overridesCertificate?.secretName).toBe('tenant-datastore-overrides-certificate');
    expect(status?.dataStoreName).toBe('default');
  });

  test('has its tenancy recorded before it is created, and its DataStore counts it from then on', async () => {
    const { world, second } = await created();
    await world.reconcile();
    expect(second.tenancies.size).toBe(0);
    expect(await recorded(world)).toEqual(['/events in events, to be made']);
    expect(usersOf('events', { tenants: [await world.read()], defaultDataStore: '' })).toEqual(['default/tenant']);
    expect(await world.deployment()).toBeUndefined();
    await world.settle();
    expect(await recorded(world)).toEqual(['/events in events']);
    expect(world.events.join()).not.toContain('PlacementPending');
  });

  test('writes nothing and sends no request to a datastore if nothing changes', async () => {
    const { world, second } = await running();
    const calls = second.calls.length;
    const writes = await world.writes();
    await world.reconcile();
    expect(second.calls.length).toBe(calls);
    expect(await world.writes()).toBe(writes);
  });

  test('continues to run while the other datastore is down, also after a restart of the manager, and reports that', async () => {
    const { world, second } = await running();
    second.failure = new StoreError('Unreachable', 'events:2379: connection refused');
    world.restart();
    await world.reconcile();
    expect(await world.condition('StoreReady')).toContain(
      'False Unreachable: DataStore events: events:2379: connection refused',
    );
    expect(await world.state()).toBe('Ready');
    await world.change({ spec: { controlPlane: { deployment: { replicas: 3 } } } });
    await world.reconcile();
    expect((await world.deployment())?.spec?.replicas).toBe(3);
  });

  test('gets no certificate for names that another owner has in the other datastore', async () => {
    const world = new TenantWorld();
    const second = await world.addStoreBeside('events');
    second.tenancies.set('shared', { schema: 'shared', user: 'shared', owner: 'somebody' });
    await world.create({
      spec: {
        dataStore: 'default',
        dataStoreSchema: 'shared',
        dataStoreUsername: 'shared',
        dataStoreOverrides: [events],
      },
    });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('False OwnedByAnother: DataStore events: schema shared');
    expect(await world.secret('datastore-overrides-certificate')).toBeUndefined();
    expect(await world.deployment()).toBeUndefined();
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(second.tenancies.get('shared')?.owner).toBe('somebody');
  });

  test('is refused a DataStore that is its main datastore under another name, because removing one would remove the other', async () => {
    const world = new TenantWorld();
    await world.addStoreBeside('events', 'etcd:2379');
    await world.create({ spec: { dataStore: 'default', dataStoreOverrides: [events] } });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('False OwnedByAnother: DataStore events');
    expect(await world.condition('StoreReady')).toContain('the two DataStores may be the same server');
    await setOverrides(world, []);
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('True');
    expect(world.store.tenancies.size).toBe(1);
    expect(await recorded(world)).toEqual([]);
  });

  test('waits for a DataStore that does not exist yet', async () => {
    const world = new TenantWorld();
    await world.create({ spec: { dataStore: 'default', dataStoreOverrides: [{ ...events, resource: '/secrets' }] } });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain(
      'False DataStoreNotFound: DataStore events, which spec.dataStoreOverrides names for /secrets, does not exist',
    );
    await world.addStoreBeside('events');
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
    expect(await flag(world)).toBe('/secrets#https://events:2379');
  });

  test('gets no tenancy in a datastore that is known to lack something, and keeps an existing one', async () => {
    const tooOld = { type: 'Ready', status: 'False', reason: 'Unsupported', message: 'version 3.5.1 is too old' };
    const fault = async (world: TenantWorld): Promise<void> => {
      const ready = { ...tooOld, lastTransitionTime: '2026-03-01T12:00:00Z' };
      const body = { status: { conditions: [ready] } };
      await world.cluster.admin.patch(
        dataStore,
        { name: 'events' },
        { type: 'merge', body },
        { subresource: 'status' },
      );
    };
    const { world, second } = await created();
    await fault(world);
    await world.settle();
    const message =
      'False Unsupported: DataStore events of spec.dataStoreOverrides cannot be used: version 3.5.1 is too old';
    expect(await world.condition('StoreReady')).toContain(message);
    expect([second.tenancies.size, await recorded(world)]).toEqual([0, []]);
    const earlier = await running();
    await fault(earlier.world);
    await earlier.world.settle();
    expect(await earlier.world.condition('StoreReady')).toContain(message);
    expect(await flag(earlier.world)).toBe('/events#https://events:2379');
  });

  test('reports why no certificate opens its datastores', async () => {
    const { world } = await created();
    const { driver } = world.store;
    const failing = new StoreError('Unsupported', 'no single client certificate is valid for all of these datastores');
    Object.assign(driver, { sharedClientTls: () => Promise.reject(failing) });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain(
      'False OverrideUnusable: spec.dataStoreOverrides: no single client certificate is valid for all of these datastores',
    );
  });
});

describe('What admission would refuse', () => {
  test.each<readonly [string, Overrides, string]>([
    ['no resource of kube-apiserver', [{ resource: 'example.org/widgets', dataStore: 'events' }], 'not built into'],
    ['the main store', [{ resource: '/events', dataStore: 'default' }], 'is already the main DataStore'],
    ['a resource twice', [events, events], 'duplicate resource override'],
  ])('is refused without admission too: %s', async (_title, overrides, message) => {
    const { world } = await running(overrides);
    expect(await world.condition('StoreReady')).toContain('False OverrideUnusable: spec.dataStoreOverrides');
    expect(await world.condition('StoreReady')).toContain(message);
    expect(await world.deployment()).toBeUndefined();
  });

  test('is refused without admission too: a main datastore behind kine', async () => {
    const world = new TenantWorld({ kine: true });
    await world.create({ spec: { dataStore: 'default', dataStoreOverrides: [events] } });
    await world.addStoreBeside('events');
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('default has driver PostgreSQL');
  });

  test('does not affect a running tenant whose object is older than the rules, so that no resources seem lost', async () => {
    const { world, second } = await running([]);
    const before = (await world.deployment())?.metadata.resourceVersion;
    await setOverrides(world, [{ resource: '/secrets', dataStore: 'events' }]);
    await world.settle();
    expect(await world.condition('StoreReady')).toContain(
      'cannot change the DataStore of /secrets from the main DataStore',
    );
    expect((await world.deployment())?.metadata.resourceVersion).toBe(before);
    expect(second.tenancies.size).toBe(0);
    await setOverrides(world, []);
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('True');
  });

  test('is accepted if the operator of the datastore confirms that the tenant’s objects are there', async () => {
    const { world } = await running([]);
    const schema = (await world.read()).status?.storage?.setup?.schema ?? '';
    const body = { metadata: { annotations: { [annotations.adoptSchema]: `default/tenant=${schema}` } } };
    await world.cluster.admin.patch(dataStore, { name: 'events' }, { type: 'merge', body });
    await setOverrides(world, [{ resource: '/secrets', dataStore: 'events' }]);
    await world.settle();
    expect(await flag(world)).toBe('/secrets#https://events:2379');
    expect(await world.condition('StoreReady')).toBe('True');
  });
});

describe('An override that is removed', () => {
  test('is cleaned up when no pod uses it anymore: tenancy, record and Secret', async () => {
    const { world, second } = await running();
    world.podsStart = false;
    await setOverrides(world, []);
    await world.settle();
    expect(await flag(world)).toBeUndefined();
    expect(second.tenancies.size).toBe(1);
    expect(await recorded(world)).toEqual(['/events in events']);
    expect(usersOf('events', { tenants: [await world.read()], defaultDataStore: '' })).toEqual(['default/tenant']);
    await world.startPods();
    await world.settle();
    expect(second.tenancies.size).toBe(0);
    expect(await recorded(world)).toEqual([]);
    expect((await world.read()).status?.storage?.overridesCertificate).toBeUndefined();
    expect(await world.secret('datastore-overrides-certificate')).toBeUndefined();
    expect(usersOf('events', { tenants: [await world.read()], defaultDataStore: '' })).toEqual([]);
    expect(world.store.tenancies.size).toBe(1);
    expect(world.events.join()).toContain('OverrideRemoved: removed the data of this tenant from DataStore events');
    await setOverrides(world, [events]);
    await world.settle();
    expect(await flag(world)).toBe('/events#https://events:2379');
    expect(second.tenancies.size).toBe(1);
  });

  test('is created in another datastore, and removed from the first', async () => {
    const { world, second } = await running();
    const third = await world.addStoreBeside('third');
    await setOverrides(world, [{ ...events, dataStore: 'third' }]);
    await world.settle();
    expect(await flag(world)).toBe('/events#https://third:2379');
    expect([second.tenancies.size, third.tenancies.size]).toEqual([0, 1]);
    expect(await recorded(world)).toEqual(['/events in third']);
    expect(text((await world.secret('datastore-overrides-certificate'))?.data, 'ca.crt')).not.toContain('events:2379');
  });

  test('keeps the tenancy for the resources that are still in it', async () => {
    const { world, second } = await running([events, leases]);
    await setOverrides(world, [leases]);
    await world.settle();
    expect(second.tenancies.size).toBe(1);
    expect(await recorded(world)).toEqual(['coordination.k8s.io/leases in events']);
  });

  test('waits for a datastore that is down, and for one whose DataStore is gone until it is confirmed to be lost', async () => {
    const { world, second } = await running();
    second.failure = new StoreError('Unreachable', 'events:2379: connection refused');
    await setOverrides(world, []);
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('False Unreachable: DataStore events');
    expect(await recorded(world)).toEqual(['/events in events']);
    await world.cluster.admin.delete(dataStore, { name: 'events' });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('False DataStoreNotFound: DataStore events does not exist');
    await world.change({ metadata: { annotations: { [annotations.abandonData]: 'true' } } });
    await world.settle();
    expect(await recorded(world)).toEqual([]);
    expect(await world.condition('StoreReady')).toBe('True');
  });
});

describe('Deleting a tenant with resources in another datastore', () => {
  test('leaves nothing in either', async () => {
    const { world, second } = await running();
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect([world.store.tenancies.size, second.tenancies.size]).toEqual([0, 0]);
    expect((await world.cluster.admin.list<Resource>(kinds.Secret)).items).toEqual([]);
  });

  test('waits for one that is down, after the others, and continues when it is back', async () => {
    const { world, second } = await running();
    second.failure = new StoreError('Unreachable', 'events:2379: connection refused');
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await deletion(world)).toContain('DataStore events: events:2379: connection refused');
    expect(world.store.tenancies.size).toBe(0);
    second.failure = undefined;
    await world.clock.advance(10_000);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(second.tenancies.size).toBe(0);
  });

  test('waits for a DataStore that is gone, or for the confirmation that its data is lost', async () => {
    const { world } = await running();
    await world.cluster.admin.delete(dataStore, { name: 'events' });
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await deletion(world)).toContain('DataStore events does not exist');
    await world.change({ metadata: { annotations: { [annotations.abandonData]: 'true' } } });
    await world.settle();
    expect(await world.exists()).toBe(false);
  });

  test('ends at once for a tenancy that was never created', async () => {
    const { world, second } = await created();
    await world.reconcile();
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect([world.store.tenancies.size, second.tenancies.size]).toEqual([0, 0]);
  });

  test('removes a tenancy whose override was removed while its datastore was down', async () => {
    const { world, second } = await running();
    second.failure = new StoreError('Unreachable', 'events:2379: connection refused');
    await setOverrides(world, []);
    await world.settle();
    second.failure = undefined;
    await world.clock.advance(10_000);
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(second.tenancies.size).toBe(0);
  });
});

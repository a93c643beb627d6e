import { beforeEach, describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { annotations } from '../../api/names.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import { Reconciler } from '../../runtime/reconcile/reconciler.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { access } from './access.ts';
import { retainedControlPlaneController } from './controller.ts';

const key = { namespace: 'default', name: 'tenant' };
const recordKey = { name: 'default.tenant' };
const { spec } = tenantControlPlaneWith({});
const storage = { driver: 'etcd', setup: { schema: 'schema', user: 'user' } } as const;
const record = JSON.stringify({ spec, status: { storage } });

let cluster: FakeCluster;
let controller: Controller<RetainedControlPlane>;
let reconciler: Reconciler;
let removed: string[];
let events: string[];

beforeEach(() => {
  cluster = new FakeCluster({ access, admit: (_kind, object) => object });
  removed = [];
  events = [];
  controller = controllerOf('');
  reconciler = new Reconciler({
    memory: new ObjectMemory(),
    controller,
    cluster,
    clock: new FakeClock(),
    events: { record: (_object, { reason }) => void events.push(reason) },
    stop: new AbortController().signal,
    wrote: () => undefined,
  });
});

function controllerOf(namespace: string): Controller<RetainedControlPlane> {
  return retainedControlPlaneController({
    cluster,
    namespace,
    removeData: ({ metadata: { uid } }) => {
      removed.push(uid);
      return Promise.resolve(undefined);
    },
  });
}

/** Stores the record, which has its finalizer from the beginning. */
function retain(changes: Partial<RetainedControlPlane['spec']> = {}): Promise<RetainedControlPlane> {
  const retained: RetainedControlPlane = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'RetainedControlPlane',
    metadata: storedMeta({ ...recordKey, finalizers: ['finalizer.steward.butlerlabs.dev/retained-data'] }),
    spec: { formerUID: 'former', record, ...changes },
  };
  return cluster.seed(retainedControlPlane, retained);
}

/** Stores a TenantControlPlane of the same name. */
function occupy(status?: TenantControlPlane['status']): Promise<TenantControlPlane> {
  const { apiVersion, kind } = tenantControlPlaneWith({});
  const object = { apiVersion, kind, metadata: { ...key, finalizers: ['a/b'] }, spec, status };
  return cluster.seed(tenantControlPlane, object);
}

const found = (): Promise<RetainedControlPlane | undefined> => cluster.admin.get(retainedControlPlane, recordKey);

/** Reconciles a few times. */
async function settle(): Promise<void> {
  for (let reconciles = 0; reconciles < 3; reconciles += 1) {
    const retained = await found();
    if (retained !== undefined) await reconciler.reconcile(retained, silent);
  }
}

/** Deletes the record, as garbage collection or a person does. */
async function end(): Promise<void> {
  await cluster.admin.delete(retainedControlPlane, recordKey);
  await settle();
}

const annotate = (marks: Readonly<Record<string, string>>): Promise<unknown> =>
  cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body: { metadata: { annotations: marks } } });

const nameAdopter = (adopterUID: string | undefined): Promise<unknown> =>
  cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body: { spec: { adopterUID } } });

async function conditionOf(type: string): Promise<string | undefined> {
  const condition = (await found())?.status?.conditions?.find((one) => one.type === type);
  return condition && `${condition.status} ${condition.reason}`;
}

describe('A RetainedControlPlane', () => {
  test('stays until its data is adopted, and reports which adopter it waits for', async () => {
    await retain();
    await settle();
    expect(await conditionOf('Adoptable')).toBe('True Adoptable');
    const { metadata } = await occupy();
    await nameAdopter(metadata.uid);
    await settle();
    expect((await found())?.status?.conditions?.[0]?.message).toContain(metadata.uid);
    expect(removed).toEqual([]);
  });

  test('is deleted once the TenantControlPlane of its name has the data, and removes nothing', async () => {
    await retain();
    await occupy({ storage: { ...storage, owner: 'former' } });
    await settle();
    expect(await found()).toBeUndefined();
    expect(removed).toEqual([]);
  });

  test('stays if the TenantControlPlane of its name has data of its own', async () => {
    await retain();
    await occupy({ storage });
    await settle();
    expect(await found()).toBeDefined();
  });

  test('is not deleted if the TenantControlPlane that has adopted the data is being deleted, which may replace the record with its own', async () => {
    await retain();
    await occupy({ storage: { ...storage, owner: 'former' } });
    await cluster.admin.delete(tenantControlPlane, key);
    await settle();
    expect((await found())?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('is reported as not adoptable if its record cannot be read', async () => {
    await retain({ record: '{' });
    await settle();
    expect(await conditionOf('Adoptable')).toBe('False RecordUnreadable');
  });

  test('is enqueued when a TenantControlPlane of its name changes', () => {
    const tcp = tenantControlPlaneWith({ metadata: key });
    expect(controller.watches.flatMap((watch) => watch.keys(tcp, undefined))).toEqual([recordKey]);
  });

  test.each([
    ['', true],
    ['default', true],
    ['other', false],
  ])('is reconciled by the manager of namespace "%s": %s', async (namespace, isServed) => {
    const retained = await retain();
    expect(controllerOf(namespace).serves?.(retained)).toBe(isServed);
  });
});

describe('A RetainedControlPlane that is deleted', () => {
  test('removes its data from the datastore', async () => {
    await retain();
    await end();
    expect(removed).toEqual(['former']);
    expect(await found()).toBeUndefined();
  });

  test('removes its data although a TenantControlPlane of its name has other data', async () => {
    await retain();
    await occupy({ storage });
    await end();
    expect(removed).toEqual(['former']);
  });

  test('removes nothing while the TenantControlPlane that released the data exists, which may use it', async () => {
    const { metadata } = await occupy({ storage });
    await retain({ formerUID: metadata.uid });
    await end();
    expect(await conditionOf('Deleting')).toBe('True WaitingForTenantControlPlane');
    expect(removed).toEqual([]);
  });

  test('removes nothing once the TenantControlPlane that released the data adopts it again', async () => {
    const { metadata } = await occupy({ storage });
    await retain({ formerUID: metadata.uid, adopterUID: metadata.uid });
    await end();
    expect(await found()).toBeUndefined();
    expect(removed).toEqual([]);
  });

  test('removes nothing while its adopter may still adopt the data, and removes it once that adopter is gone', async () => {
    const { metadata } = await occupy();
    await retain({ adopterUID: metadata.uid });
    await end();
    expect(await conditionOf('Deleting')).toBe('True WaitingForTenantControlPlane');
    await cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await cluster.admin.delete(tenantControlPlane, key);
    expect(removed).toEqual([]);
    await settle();
    expect(removed).toEqual(['former']);
  });

  test('is read from the API server first, since the cache may not have its adopter yet', async () => {
    const old = await retain();
    const { metadata } = await occupy();
    await nameAdopter(metadata.uid);
    await cluster.admin.delete(retainedControlPlane, recordKey);
    const deleting = { ...old, metadata: { ...old.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
    await reconciler.reconcile(deleting, silent);
    expect(removed).toEqual([]);
  });

  test('leaves its data in the datastore if the data is abandoned', async () => {
    await retain();
    await annotate({ [annotations.abandonData]: 'true' });
    await end();
    expect(await found()).toBeUndefined();
    expect(removed).toEqual([]);
    expect(events).toContain('DataAbandoned');
  });

  test('removes nothing while it is paused', async () => {
    await retain();
    await annotate({ [annotations.paused]: '' });
    await end();
    expect(removed).toEqual([]);
    expect(await found()).toBeDefined();
  });
});

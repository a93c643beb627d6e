import { expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { retainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const recordKey = { name: 'default.tenant' };
const marks = { [annotations.deletionPolicy]: 'Retain' };

/** Creates a TenantControlPlane without an owner and deletes it, which leaves a record. */
async function deleted(
  world: TenantWorld,
  changes: TenantControlPlaneChanges = {},
): Promise<{ readonly uid: string | undefined; readonly ca: unknown }> {
  await world.create({ ...changes, metadata: { annotations: marks } });
  await world.settle();
  const { uid } = (await world.read()).metadata;
  const ca = (await world.secret('ca'))?.data;
  await world.cluster.admin.delete(tenantControlPlane, key);
  for (let reconciles = 0; reconciles < 10 && (await world.exists()); reconciles += 1) await world.reconcile();
  expect(await world.exists()).toBe(false);
  expect(await world.cluster.admin.get(retainedControlPlane, recordKey)).toBeDefined();
  return { uid, ca };
}

test('the next TenantControlPlane of that name waits, creates nothing and reports who decides whether it adopts the data', async () => {
  const world = new TenantWorld();
  await deleted(world);
  await world.create();
  await world.settle();
  const { uid } = (await world.read()).metadata;
  expect(await world.condition('StoreReady')).toContain(
    `AdoptingData: RetainedControlPlane default.tenant has the data`,
  );
  expect(await world.condition('StoreReady')).toContain(`spec.adopterUID is ${uid}`);
  expect(world.store.tenancies.size).toBe(1);
  expect(await world.deployment()).toBeUndefined();
});

test('it waits for the watch on the record, without a requeue', async () => {
  const world = new TenantWorld();
  await deleted(world);
  await world.create();
  expect((await world.reconcile()).afterMs).toBeUndefined();
});

test('it adopts data and CAs once the record names it, without any StewardControlPlane', async () => {
  const world = new TenantWorld();
  const former = await deleted(world);
  const { metadata } = await world.create();
  await world.settle();
  const body = { spec: { adopterUID: metadata.uid } };
  await world.cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body });
  await world.settle();
  expect(await world.condition('Ready')).toBe('True');
  expect((await world.read()).status?.storage?.owner).toBe(former.uid);
  expect((await world.secret('ca'))?.data).toEqual(former.ca);
  expect([...world.store.tenancies.values()].map(({ owner }) => owner)).toEqual([former.uid]);
});

test('it removes from the tenant what only the spec of the previous one requested', async () => {
  const world = new TenantWorld();
  const addons = { coreDNS: {}, kubeProxy: {} };
  await deleted(world, { spec: { dataStore: 'default', addons, writePermissions: { blockCreation: true } } });
  const names = async (kind: KindRef): Promise<readonly string[]> =>
    (await world.tenant.admin.list<Resource>(kind)).items.map(({ metadata }) => metadata.name);
  expect(await names(kinds.Deployment)).toEqual(['coredns']);
  expect(await names(kinds.DaemonSet)).toEqual(['kube-proxy']);
  expect(await names(kinds.ValidatingAdmissionPolicy)).toHaveLength(1);
  const { metadata } = await world.create();
  await world.settle();
  const body = { spec: { adopterUID: metadata.uid } };
  await world.cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body });
  await world.settle();
  expect(await world.condition('Ready')).toBe('True');
  expect(await names(kinds.ValidatingAdmissionPolicy)).toEqual([]);
  expect(await names(kinds.Deployment)).toEqual([]);
  expect(await names(kinds.DaemonSet)).toEqual([]);
});

test('it begins with empty data once the record is deleted', async () => {
  const world = new TenantWorld();
  const former = await deleted(world);
  await world.create();
  await world.settle();
  const body = { metadata: { finalizers: [] } };
  await world.cluster.admin.patch(retainedControlPlane, recordKey, { type: 'merge', body });
  await world.cluster.admin.delete(retainedControlPlane, recordKey);
  await world.settle();
  expect(await world.condition('Ready')).toBe('True');
  expect((await world.read()).status?.storage?.owner).toBeUndefined();
  expect((await world.secret('ca'))?.data).not.toEqual(former.ca);
});

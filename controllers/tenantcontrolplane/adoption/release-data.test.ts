import { describe, expect, test } from '@jest/globals';
import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, ObjectMeta } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { retainedControlPlane, retainedKey } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { access } from '../access.ts';
import { addons } from '../addons/registry.ts';
import { mostRecords, releaseData } from './release-data.ts';
import { retainedSpec } from './retained-record.ts';

const key = { namespace: 'default', name: 'tenant' };
const recordKey = { name: 'default.tenant' };
const uid = 'of-tenant';
const now = new Date('2030-01-01T00:00:00Z');
const ctx: Context = { signal: new AbortController().signal, now, log: silent, event: () => undefined };
const owner = { apiVersion: 'example.com/v1', kind: 'Owner', name: 'owner', uid: 'of-owner', controller: true };

/** A TenantControlPlane that is deleted, with its CA. */
class World {
  readonly cluster: FakeCluster;

  constructor(absent: readonly KindRef[] = []) {
    this.cluster = new FakeCluster({ access, absent, admit: (_kind, object) => object, collectsGarbage: false });
  }

  async begin(spec?: RetainedControlPlane['spec']): Promise<void> {
    const own = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane', name: key.name, uid };
    const metadata = { ...key, name: 'tenant-ca', ownerReferences: [{ ...own, controller: true }] };
    await this.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    if (spec !== undefined) await this.seedRecord({ ...recordKey, finalizers: ['a/b'] }, spec);
  }

  async seedRecord(metadata: ObjectMeta, spec: RetainedControlPlane['spec']): Promise<void> {
    const { group, version, kind } = retainedControlPlane;
    await this.cluster.seed(retainedControlPlane, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata,
      spec,
    });
  }

  release(tcp: TenantControlPlane): ReturnType<typeof releaseData> {
    return releaseData(tcp, { addons, cluster: this.cluster }, ctx);
  }

  record(): Promise<RetainedControlPlane | undefined> {
    return this.cluster.admin.get(retainedControlPlane, recordKey);
  }

  async ownerOfAuthority(): Promise<string | undefined> {
    const secret = await this.cluster.admin.get(kinds.Secret, { ...key, name: 'tenant-ca' });
    return secret?.metadata.ownerReferences?.map((reference) => reference.uid).join();
  }
}

const storage = { driver: 'etcd', setup: { schema: 'tenant', user: 'tenant' } } as const;

const tenant = (
  marks: Readonly<Record<string, string>> = { [annotations.deletionPolicy]: 'Retain' },
  status: TenantControlPlane['status'] = { storage },
): TenantControlPlane =>
  tenantControlPlaneWith({ metadata: { ...key, uid, annotations: marks, ownerReferences: [owner] }, status });

describe('A TenantControlPlane that is deleted', () => {
  test('with the policy Retain leaves a record with finalizer and controller, which owns its CA', async () => {
    const world = new World();
    await world.begin();
    expect(await world.release(tenant())).toBe('done');
    const record = await world.record();
    expect(record?.spec).toEqual(retainedSpec(tenant()));
    expect(record?.metadata.finalizers).toEqual(['finalizer.steward.butlerlabs.dev/retained-data']);
    expect(record?.spec.controllerUID).toBe('of-owner');
    expect(await world.ownerOfAuthority()).toBe(record?.metadata.uid);
  });

  test.each([
    ['has no policy', {}],
    ['has the policy Delete', { [annotations.deletionPolicy]: 'Delete' }],
    ['abandons its data', { [annotations.deletionPolicy]: 'Retain', [annotations.abandonData]: 'true' }],
    ['was moved by clusterctl', { [annotations.deletionPolicy]: 'Retain', [deleteForMoveAnnotation]: '' }],
  ])('leaves no record if it %s', async (_what, marks) => {
    const world = new World();
    await world.begin();
    expect(await world.release(tenant(marks))).toBeUndefined();
    expect(await world.record()).toBeUndefined();
    expect(await world.ownerOfAuthority()).toBe(uid);
  });

  test('leaves no record if it had no data yet', async () => {
    const world = new World();
    await world.begin();
    expect(await world.release(tenant(undefined, {}))).toBeUndefined();
    expect(await world.record()).toBeUndefined();
  });

  test('releases nothing if it may not write the record, and reports what to do', async () => {
    const world = new World();
    await world.begin();
    world.cluster.before(({ verb }) => {
      if (verb === 'create') throw new ApiError(403, 'Forbidden', 'no new content');
    });
    const waits = await world.release(tenant());
    expect(waits).toMatchObject({
      reason: 'RetainingData',
      message: expect.stringMatching(/no new content.*"Delete"/),
    });
    expect(await world.ownerOfAuthority()).toBe(uid);
  });

  test('releases nothing without the CRD of the record, and reports that it is missing', async () => {
    const world = new World([retainedControlPlane]);
    await world.begin();
    expect(await world.release(tenant())).toMatchObject({
      reason: 'RetainingData',
      message: expect.stringMatching(/CRD of RetainedControlPlane is not installed.*"Delete"/),
    });
    expect(await world.release(tenant({}))).toBeUndefined();
    expect(await world.ownerOfAuthority()).toBe(uid);
  });

  test('releases nothing if its namespace has the most records already, and one of another namespace does not count', async () => {
    const world = new World();
    await world.begin();
    const seed = async (name: string, namespace = key.namespace): Promise<TenantControlPlane> => {
      const former = tenantControlPlaneWith({ metadata: { namespace, name, uid: `of-${name}` } });
      await world.seedRecord(retainedKey(former), retainedSpec(former));
      return former;
    };
    await seed('elsewhere', 'other');
    for (let index = 1; index < mostRecords; index += 1) await seed(`former-${index}`);
    const last = await seed('last');
    expect(await world.release(tenant())).toMatchObject({
      reason: 'RetainingData',
      message: expect.stringContaining('namespace default has 20 RetainedControlPlanes'),
    });
    expect(await world.record()).toBeUndefined();
    await world.cluster.admin.delete(retainedControlPlane, retainedKey(last));
    expect(await world.release(tenant())).toBe('done');
  });

  test('releases nothing while a record of other data has its name', async () => {
    const world = new World();
    await world.begin(retainedSpec(tenantControlPlaneWith({ metadata: { ...key, uid: 'another' } })));
    expect(await world.release(tenant())).toMatchObject({ reason: 'RetainingData' });
    expect((await world.record())?.spec.formerUID).toBe('another');
    expect(await world.ownerOfAuthority()).toBe(uid);
  });

  test('replaces the record that it has adopted with its own', async () => {
    const world = new World();
    const before = tenantControlPlaneWith({ metadata: { ...key, uid: 'before' }, status: { storage } });
    await world.begin({ ...retainedSpec(before), adopterUID: uid });
    const successor = tenant(undefined, { storage: { ...storage, owner: 'before' } });
    expect(await world.release(successor)).toBe('done');
    expect((await world.record())?.spec).toEqual(retainedSpec(successor));
  });

  test('waits until the record that it has adopted is gone, if that is being deleted', async () => {
    const world = new World();
    const before = tenantControlPlaneWith({ metadata: { ...key, uid: 'before' }, status: { storage } });
    await world.begin({ ...retainedSpec(before), adopterUID: uid });
    await world.cluster.admin.delete(retainedControlPlane, recordKey);
    const successor = tenant(undefined, { storage: { ...storage, owner: 'before' } });
    expect(await world.release(successor)).toMatchObject({ reason: 'RetainingData' });
    expect(await world.ownerOfAuthority()).toBe(uid);
  });

  test('adopts its data again if it does not retain it after all, and waits until the record is gone', async () => {
    const world = new World();
    await world.begin();
    await world.release(tenant());
    expect(await world.release(tenant({}))).toMatchObject({ reason: 'ReleasingData' });
    const record = await world.record();
    expect(record?.spec.adopterUID).toBe(uid);
    expect(record?.metadata.deletionTimestamp).toBeDefined();
    expect(await world.ownerOfAuthority()).toBe(uid);
  });

  test('releases what it has adopted to the record if it is the adopter and has no data yet', async () => {
    const world = new World();
    await world.begin({
      ...retainedSpec(tenantControlPlaneWith({ metadata: { ...key, uid: 'before' } })),
      adopterUID: uid,
    });
    expect(await world.release(tenant(undefined, {}))).toBeUndefined();
    expect(await world.ownerOfAuthority()).toBe((await world.record())?.metadata.uid);
  });
});

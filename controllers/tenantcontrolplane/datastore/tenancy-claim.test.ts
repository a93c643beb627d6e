import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { listedInformers } from '../../../testing/fake/listed-informers.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { adoptsTenancy, tenancyOwner } from './tenancy.ts';
import { tenancyOf } from './store-phase.ts';

describe('The tenancy of a tenant', () => {
  test('gets no certificate for a chosen name that belongs to another owner in the datastore', async () => {
    const world = new TenantWorld();
    world.store.failure = new StoreError('OwnedByAnother', 'user victim belongs to another owner');
    await world.create({ spec: { dataStoreUsername: 'victim', dataStoreSchema: 'mine' } });
    await world.reconcile();
    expect(await world.secret('datastore-certificate')).toBeUndefined();
    const ready = (await world.read()).status?.conditions?.find(({ type }) => type === 'StoreReady');
    expect(ready).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    world.store.failure = undefined;
    await world.reconcile();
    expect(await world.secret('datastore-certificate')).toBeDefined();
  });

  test('is not created, nor its certificate, for a user that a tenant of another DataStore has', async () => {
    const victim = tenantControlPlaneWith({
      metadata: { name: 'victim', namespace: 'rival', uid: 'of-victim' },
      status: { storage: { driver: 'etcd', dataStoreName: 'another', setup: { schema: 'victim', user: 'victim' } } },
    });
    const informers = () => listedInformers({ TenantControlPlane: () => [victim] });
    const world = new TenantWorld({ informers });
    await world.create({ spec: { dataStore: 'default', dataStoreUsername: 'victim', dataStoreSchema: 'mine' } });
    await world.reconcile();
    expect(await world.secret('datastore-certificate')).toBeUndefined();
    expect([...world.store.tenancies.keys()]).toEqual([]);
    const ready = (await world.read()).status?.conditions?.find(({ type }) => type === 'StoreReady');
    expect(ready).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect(ready?.message).toMatch(/"victim" is the user of rival\/victim: choose another/);
  });

  test('is neither opened nor removed for an owner that its status names while that owner exists', async () => {
    const victim = tenantControlPlaneWith({
      metadata: { name: 'victim', namespace: 'rival', uid: 'of-victim', creationTimestamp: '2026-01-01T00:00:00Z' },
    });
    const world = new TenantWorld({ informers: () => listedInformers({ TenantControlPlane: () => [victim] }) });
    const tcp = await world.create();
    const storage = { driver: 'etcd', owner: 'of-victim', setup: { schema: 'victim', user: 'victim' } };
    const body = { status: { storage } };
    const key = { namespace: tcp.metadata.namespace, name: tcp.metadata.name };
    await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    world.store.tenancies.set('victim', { schema: 'victim', user: 'victim', owner: 'of-victim' });
    await world.reconcile();
    expect(await world.secret('datastore-certificate')).toBeUndefined();
    const ready = (await world.read()).status?.conditions?.find(({ type }) => type === 'StoreReady');
    expect(ready).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect(ready?.message).toMatch(/names of-victim, whose data belongs to TenantControlPlane rival\/victim:/);
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect([...world.store.tenancies.keys()]).toEqual(['victim']);
  });

  test('is not created in a datastore that is too old to isolate tenants, and an existing one stays', async () => {
    const world = new TenantWorld();
    world.store.version = '3.6.13';
    await world.create();
    await world.reconcile();
    expect([...world.store.tenancies.keys()]).toEqual([]);
    const ready = async () => (await world.read()).status?.conditions?.find(({ type }) => type === 'StoreReady');
    expect(await ready()).toMatchObject({ status: 'False', reason: 'Unsupported' });
    world.store.version = '3.7.1';
    await world.settle();
    expect(world.store.tenancies.size).toBe(1);
    world.store.version = '3.6.13';
    world.restart();
    await world.settle();
    expect(await ready()).toMatchObject({ status: 'True' });
  });

  test('belongs to the TenantControlPlane, whatever owner its author writes', async () => {
    const world = new TenantWorld();
    const tcp = await world.create();
    const forged = { apiVersion: 'x/v1', kind: 'StewardControlPlane', name: 'x', uid: 'victim', controller: true };
    await world.change({ metadata: { ownerReferences: [forged] } });
    const changed = await world.read();
    expect(changed.kind).toBe(tenantControlPlane.kind);
    expect(tenancyOwner(changed)).toBe(tcp.metadata.uid);
    expect(tenancyOf(changed)).toEqual(tenancyOf(tcp));
  });

  test('adopts data without an owner only if the operator of the datastore allows it', async () => {
    const tcp = await new TenantWorld().create();
    const { namespace, name } = tcp.metadata;
    const key = 'steward.butlerlabs.dev/adopt-schema';
    const store = (grant: string): DataStore => ({
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: storedMeta({ name: 'default', annotations: { [key]: grant } }),
      spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
    });
    const bold = { ...tcp, metadata: { ...tcp.metadata, annotations: { [key]: 'victims' } } };
    expect(adoptsTenancy(bold, 'victims', undefined)).toBe(false);
    expect(adoptsTenancy(tcp, 'victims', store(`${namespace}/other=victims`))).toBe(false);
    expect(adoptsTenancy(tcp, 'mine', store(`a/b=c, ${namespace}/${name}=mine`))).toBe(true);
  });
});

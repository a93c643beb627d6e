import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { annotations, finalizers, labels } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { StoreError } from '../../stores/store-error.ts';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };

async function running(): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  return world;
}

const ask = (world: TenantWorld): Promise<boolean> => world.cluster.admin.delete(tenantControlPlane, key);

async function addPod(world: TenantWorld, terminating: boolean): Promise<void> {
  const metadata = {
    name: 'tenant-abc',
    namespace: 'default',
    labels: { [labels.name]: 'tenant' },
    finalizers: ['test/kubelet'],
  };
  await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata });
  if (terminating) {
    await world.cluster.admin.delete(kinds.Pod, { ...key, name: 'tenant-abc' }, { gracePeriodSeconds: 30 });
  }
}

const removePod = (world: TenantWorld): Promise<unknown> =>
  world.cluster.admin.patch(
    kinds.Pod,
    { ...key, name: 'tenant-abc' },
    { type: 'merge', body: { metadata: { finalizers: null, deletionGracePeriodSeconds: 0 } } },
  );

describe('Deleting a TenantControlPlane', () => {
  test('removes its data and then its finalizer', async () => {
    const world = await running();
    expect(world.store.tenancies.size).toBe(1);
    await ask(world);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(world.store.tenancies.size).toBe(0);
    const left = await Promise.all(
      [kinds.Secret, kinds.Service, kinds.Deployment].map(
        async (kind) => (await world.cluster.admin.list<Resource>(kind)).items,
      ),
    );
    // The Service of the cluster's own API server.
    expect(left.flat().map(({ metadata }) => metadata.name)).toEqual(['kubernetes']);
  });

  test('removes the data at once: the datastore locks out pods that still run', async () => {
    const world = await running();
    await addPod(world, true);
    await ask(world);
    await world.settle();
    expect(world.store.calls).toContain('remove');
    expect(world.store.tenancies.size).toBe(0);
    expect(await world.exists()).toBe(false);
  });

  test('keeps data that is retained, left behind or not removed yet until the last pod is gone', async () => {
    const retain = { [annotations.deletionPolicy]: 'Retain' };
    for (const given of [retain, { [annotations.abandonData]: 'true' }]) {
      const world = await running();
      await world.change({ metadata: { annotations: given } });
      await addPod(world, true);
      await ask(world);
      await world.settle();
      expect(await world.condition('Deleting')).toBe('True');
      await removePod(world);
      await world.settle();
      expect(await world.exists()).toBe(false);
      expect(world.store.tenancies.size).toBe(1);
    }
  });

  test('keeps the data until the last pod is gone where none can be locked out, so that nothing is written late', async () => {
    const world = await running();
    world.store.locksOut = false;
    world.restart();
    await addPod(world, true);
    await ask(world);
    await world.settle();
    expect(world.store.calls).not.toContain('remove');
    expect(await world.condition('Deleting')).toBe('True');
    expect((await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting')?.message).toContain(
      'tenant-abc',
    );
    await removePod(world);
    await world.settle();
    expect(world.store.calls).toContain('remove');
    expect(await world.exists()).toBe(false);
  });

  test('shortens the grace period of the pods before they are stopped, and each only once', async () => {
    const world = await running();
    await addPod(world, false);
    await ask(world);
    await world.settle();
    const deletes = world.cluster.calls.filter(({ verb }) => verb === 'delete').map(({ kind }) => kind?.kind);
    expect(deletes).toEqual(['Pod', 'Deployment']);
  });

  test('gives the pods one second, and keeps the Deployment that owns them until they are gone', async () => {
    const world = await running();
    const deployment = await world.deployment();
    if (deployment === undefined) throw new Error('there is no Deployment');
    const { name, uid } = deployment.metadata;
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, blockOwnerDeletion: true };
    const pod = { ...key, name: 'tenant-abc' };
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...pod, labels: { [labels.name]: 'tenant' }, ownerReferences: [owner] },
      spec: { nodeName: 'node', terminationGracePeriodSeconds: 30, containers: [] },
    });
    await ask(world);
    await world.settle();
    await world.settle();
    expect((await world.cluster.admin.get(kinds.Pod, pod))?.metadata.deletionGracePeriodSeconds).toBe(1);
    const deletes = world.cluster.calls.filter(({ verb, kind }) => verb === 'delete' && kind?.kind === 'Pod');
    expect(deletes).toHaveLength(1);
    expect((await world.deployment())?.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(await world.exists()).toBe(false);
    await world.clock.advance(1000);
    expect(await world.deployment()).toBeUndefined();
  });

  test('reports that it waits for a datastore that does not answer, and continues when it does', async () => {
    const world = await running();
    world.store.failure = new StoreError('Unreachable', 'etcd:2379: connection refused');
    await ask(world);
    expect(await world.settle()).toMatchObject({ afterMs: 10_000 });
    const waiting = (await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting');
    expect(waiting).toMatchObject({ status: 'True', reason: 'WaitingForStore' });
    expect(waiting?.message).toContain('etcd:2379: connection refused');
    world.store.failure = undefined;
    await world.clock.advance(10_000);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(world.store.tenancies.size).toBe(0);
  });

  test('reports that the DataStore is gone, and finishes if the annotation allows it', async () => {
    const world = await running();
    await world.cluster.admin.delete(dataStore, { name: 'default' });
    await ask(world);
    await world.settle();
    const waiting = (await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting');
    expect(waiting?.message).toContain('DataStore default does not exist');
    expect(waiting?.message).toContain(annotations.abandonData);
    await world.change({ metadata: { annotations: { [annotations.abandonData]: 'true' } } });
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(world.events.join()).toContain('DataAbandoned');
  });

  test('ends at once for a tenant that never got a tenancy', async () => {
    const world = new TenantWorld();
    await world.create({ spec: { dataStore: 'missing' } });
    await world.settle();
    await ask(world);
    await world.settle();
    expect(await world.exists()).toBe(false);
  });

  test('does not remove data under its names that belong to another owner', async () => {
    const world = new TenantWorld();
    await world.create({ spec: { dataStore: 'default', dataStoreSchema: 'shared' } });
    world.store.tenancies.set('shared', { schema: 'shared', user: 'shared', owner: 'somebody' });
    await world.settle();
    expect(await world.condition('StoreReady')).toContain('OwnedByAnother');
    expect(await world.deployment()).toBeUndefined();
    await ask(world);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(world.store.tenancies.has('shared')).toBe(true);
  });

  test('waits if the datastore says that the recorded tenancy has another owner, so that nothing is left silently', async () => {
    const world = await running();
    world.store.failure = new StoreError('OwnedByAnother', 'schema tenant belongs to another owner');
    await ask(world);
    await world.settle();
    const waiting = (await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting');
    expect(waiting).toMatchObject({ status: 'True', reason: 'WaitingForStore' });
    expect(waiting?.message).toContain('belongs to another owner');
    expect(world.store.tenancies.size).toBe(1);
  });

  test('removes the finalizers of other versions', async () => {
    const world = await running();
    await world.change({ metadata: { finalizers: [finalizers.dataStore, finalizers.soot] } });
    const config = { namespace: 'default', name: 'tenant-datastore-config' };
    const body = { metadata: { finalizers: [finalizers.dataStoreSecret] } };
    await world.cluster.admin.patch(kinds.Secret, config, { type: 'merge', body });
    await ask(world);
    await world.settle();
    expect(await world.exists()).toBe(false);
    expect(await world.secret('datastore-config')).toBeUndefined();
  });
});

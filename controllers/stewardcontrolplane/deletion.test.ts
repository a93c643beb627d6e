import { beforeEach, describe, expect, test } from '@jest/globals';
import { annotations } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { capiCluster, capiMachine, capiMachinePool } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { ControlPlaneWorld, conditionNow, conditionOf, key } from '../../testing/worlds/control-plane-world.ts';

describe('The deletion of a StewardControlPlane', () => {
  let world: ControlPlaneWorld;

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
  });

  test('Deletion waits for workers, then for the TenantControlPlane, then is finished', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.reconcile();
    await world.server.seed(capiMachine, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { namespace: 'default', name: 'w', labels: { [clusterNameLabel]: key.name } },
    });
    const last = async () => world.controller.finalize?.(scp, world.ctx);
    const waiting = await last();
    expect(waiting?.finished).toBe(false);
    expect(conditionOf(waiting?.status, 'Deleting')).toMatchObject({ reason: 'WaitingForWorkersDeletion' });
    await world.server.admin.delete(capiMachine, { namespace: 'default', name: 'w' });
    expect((await last())?.finished).toBe(false);
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeUndefined();
    expect((await last())?.finished).toBe(true);
  });

  test('Deletion is retried when admission temporarily refuses the deletion of the TenantControlPlane, and reports why', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.reconcile();
    const why = 'cannot be deleted while its data is being migrated to another DataStore';
    world.server.failNext({ verb: 'delete', kind: 'TenantControlPlane' }, new ApiError(403, 'Forbidden', why));
    const waiting = await world.controller.finalize?.(scp, world.ctx);
    expect(waiting).toMatchObject({ finished: false, afterMs: 2000 });
    expect(conditionOf(waiting?.status, 'Deleting')?.message).toContain(why);
    await world.controller.finalize?.(scp, world.ctx);
    expect((await world.controller.finalize?.(scp, world.ctx))?.finished).toBe(true);
  });

  test('Deletion reports that it waits for the TenantControlPlane, and why that stays once it is known', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.reconcile();
    const body = { metadata: { finalizers: ['test.example.com/kept'] } };
    await world.server.admin.patch(tenantControlPlane, key, { type: 'merge', body });
    const waiting = async () =>
      conditionOf((await world.controller.finalize?.(scp, world.ctx))?.status, 'Deleting')?.message;
    expect(await waiting()).toMatch(/waiting for the TenantControlPlane to be deleted$/);
    await world.tenantSays({ conditions: [{ ...conditionNow('Deleting', 'True'), message: 'the store is silent' }] });
    expect(await waiting()).toMatch(/waiting for the TenantControlPlane to be deleted: the store is silent$/);
  });

  test('Deletion while paused deletes the TenantControlPlane once it is resumed', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.reconcile();
    await world.server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: true } } });
    await world.reconcile();
    expect((await world.controller.finalize?.(scp, world.ctx))?.finished).toBe(false);
    const resting = await world.server.admin.get(tenantControlPlane, key);
    expect(resting?.metadata.annotations).toHaveProperty([annotations.paused]);
    // Its own finalizer keeps it: only a TenantControlPlane that is awake lets go.
    const body = { metadata: { finalizers: ['test.example.com/kept'] } };
    await world.server.admin.patch(tenantControlPlane, key, { type: 'merge', body });
    await world.server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: false } } });
    expect((await world.controller.finalize?.(scp, world.ctx))?.finished).toBe(false);
    const leaving = await world.server.admin.get(tenantControlPlane, key);
    expect(leaving?.metadata.deletionTimestamp).toBeDefined();
    expect(leaving?.metadata.annotations ?? {}).not.toHaveProperty([annotations.paused]);
  });

  test('Deletion while paused without a Cluster is reported and does not delete anything', async () => {
    const scp = await world.seed({ ownerReferences: [], annotations: { 'cluster.x-k8s.io/paused': '' } });
    expect(conditionOf((await world.reconcile()).status, 'Paused')).toMatchObject({ status: 'True', reason: 'Paused' });
    const last = await world.controller.finalize?.(scp, world.ctx);
    expect(last?.finished).toBe(false);
    expect(conditionOf(last?.status, 'Paused')).toMatchObject({ status: 'True' });
  });

  test('Deletion continues when the watch reports the Machines gone, and by polling without a watch', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.server.seed(capiMachine, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { namespace: 'default', name: 'w', labels: { [clusterNameLabel]: key.name } },
    });
    expect(await world.controller.finalize?.(scp, world.ctx)).toHaveProperty('afterMs');
    const followed: string[][] = [];
    world.hears((blockers) => followed.push(blockers.map(({ kind }) => kind.kind)));
    expect(await world.controller.finalize?.(scp, world.ctx)).not.toHaveProperty('afterMs');
    await world.server.admin.delete(capiMachine, { namespace: 'default', name: 'w' });
    await world.controller.finalize?.(scp, world.ctx);
    expect(followed).toEqual([['Machine', 'MachinePool'], []]);
  });

  test('Deletion waits for MachinePools too', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.reconcile();
    await world.server.seed(capiMachinePool, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachinePool',
      metadata: { namespace: 'default', name: 'p', labels: { [clusterNameLabel]: key.name } },
    });
    const waiting = await world.controller.finalize?.(scp, world.ctx);
    expect(conditionOf(waiting?.status, 'Deleting')?.message).toContain('1 MachinePool of the Cluster');
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeDefined();
  });
});

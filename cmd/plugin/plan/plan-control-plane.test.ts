import { describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { newestMinor } from '../../../kubeadm/versions.ts';
import { MemoryStore } from '../../../testing/fake/memory-driver.ts';
import { ControlPlaneWorld, key } from '../../../testing/worlds/control-plane-world.ts';
import { seedManagementApi } from '../../../testing/worlds/management-api.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { fieldChanges } from './field-changes.ts';
import { mergePatched } from './merge-patched.ts';
import { planControlPlane } from './plan-control-plane.ts';
import type { Plan } from './plan-result.ts';
import { verifiedIsolation } from '../../../testing/builders/verified-isolation.ts';

async function planOf(world: ControlPlaneWorld, body: object): Promise<Plan> {
  const current = await world.server.admin.get(stewardControlPlane, key);
  return planControlPlane({
    reader: clusterReader(world.server.admin),
    settings: {
      managerNamespace: 'steward-system',
      drivers: [new MemoryStore().driver],
      defaultDataStore: 'default',
      newestMinor,
    },
    now: world.ctx.now,
    changed: mergePatched(current, body) as StewardControlPlane,
  });
}

async function made(spec: object = {}): Promise<ControlPlaneWorld> {
  const world = await ControlPlaneWorld.create();
  await world.server.seed(dataStore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name: 'default' },
    spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
    status: { conditions: [verifiedIsolation] },
  });
  await seedManagementApi(world.server, ['192.0.2.250']);
  await world.seedCluster();
  await world.seed({}, { network: { serviceType: 'ClusterIP' }, version: '1.35.0', ...spec });
  await world.reconcile();
  return world;
}

describe('The plan of a StewardControlPlane', () => {
  test('is that of the TenantControlPlane which its controller makes of it', async () => {
    const world = await made();
    const body = { spec: { version: '1.36.3', replicas: 3, apiServer: { extraArgs: ['--v=4'] } } };
    const before = await world.server.admin.get(tenantControlPlane, key);
    const plan = await planOf(world, body);
    expect(plan).toMatchObject({ kind: 'StewardControlPlane', ...key });
    expect(plan.refused).toBeUndefined();
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body });
    await world.reconcile();
    const after = await world.server.admin.get(tenantControlPlane, key);
    const changes = fieldChanges({ spec: before?.spec }, { spec: after?.spec });
    expect(changes.map(({ field }) => field)).toContain('spec.kubernetes.version');
    for (const change of changes) expect(plan.change).toContainEqual(change);
  });

  test('changes the number of pods of one that was restored, and not of one that waits for its restore', async () => {
    const world = await made({ restoreFrom: { policyName: 'hourly' } });
    const field = 'spec.controlPlane.deployment.replicas';
    const fields = async (): Promise<readonly string[]> =>
      (await planOf(world, { spec: { replicas: 3 } })).change.map((change) => change.field);
    expect(await fields()).not.toContain(field);
    const body = { status: { restore: { completionTime: '2030-01-01T00:00:00Z' } } };
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await world.reconcile();
    expect(await fields()).toContain(field);
  });

  test('says what the webhook refuses, and plans nothing', async () => {
    const plan = await planOf(await made(), { spec: { version: '1.99.0' } });
    expect(plan.refused).toContain('spec.version');
    expect(plan.objects).toEqual([]);
  });

  test('creates nothing without a Cluster, and says so', async () => {
    const world = await ControlPlaneWorld.create();
    await world.seed({ ownerReferences: [] });
    expect((await planOf(world, { spec: { replicas: 3 } })).notes.join()).toContain('no Cluster owns this object');
  });
});

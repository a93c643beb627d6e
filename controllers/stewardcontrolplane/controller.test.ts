import { beforeEach, describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { noBlockerWatches } from '../../testing/fake/no-blocker-watches.ts';
import { noInfrastructureWatches } from '../../testing/fake/no-infrastructure-watches.ts';
import { ControlPlaneWorld, conditionOf, key, tenantSecret } from '../../testing/worlds/control-plane-world.ts';
import { tenantControlPlaneOf } from './tenant/tenant-control-plane.ts';
import { stewardControlPlaneController } from './controller.ts';

describe('A StewardControlPlane', () => {
  let world: ControlPlaneWorld;

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
  });

  test('It reports that it waits for an owning Cluster and creates nothing without one', async () => {
    await world.seed({ ownerReferences: [] });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'False', reason: 'WaitingForCluster' });
    expect(conditionOf(status, 'Available')?.message).toContain('controlPlaneRef');
    expect(status?.externalManagedControlPlane).toBe(true);
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeUndefined();
  });

  test('Its TenantControlPlane has the networks of the Cluster and is owned by it', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    const { status } = await world.reconcile();
    const tenant = await world.server.admin.get(tenantControlPlane, key);
    expect(tenant?.spec.networkProfile).toMatchObject({
      serviceCidr: '10.112.0.0/16',
      podCidr: '10.128.0.0/16',
      dnsServiceIPs: ['10.112.0.99'],
    });
    expect(tenant?.spec.kubernetes.version).toBe('v1.36.3');
    expect(tenant?.spec.addons).toEqual({ coreDNS: {} });
    expect(tenant?.metadata.ownerReferences?.[0]).toMatchObject({ uid: scp.metadata.uid, controller: true });
    expect(conditionOf(status, 'TenantControlPlaneAddressReady')).toMatchObject({ status: 'False', reason: 'Pending' });
    expect(status?.initialization).toBeUndefined();
  });

  test('Its TenantControlPlane has its labels and the Cluster’s name, by which a KubeconfigGenerator selects it', async () => {
    await world.seedCluster();
    await world.seed({ labels: { team: 'a' } });
    await world.reconcile();
    const labels = (await world.server.admin.get(tenantControlPlane, key))?.metadata.labels;
    expect(labels).toMatchObject({ team: 'a', [clusterNameLabel]: 'my-cluster' });
  });

  test('Its TenantControlPlane is created again at once after a deletion', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    const gone = await world.server.admin.get(tenantControlPlane, key);
    await world.server.admin.delete(tenantControlPlane, key);
    const watch = world.controller.watches.find(({ kind }) => kind.kind === 'TenantControlPlane');
    expect(watch?.keys(gone, undefined)).toEqual([key]);
    await world.reconcile();
    const made = await world.server.admin.get(tenantControlPlane, key);
    expect(made?.metadata.uid).not.toBe(gone?.metadata.uid);
  });

  test('The record of what is retained of its TenantControlPlane enqueues it, also when the record is gone', async () => {
    await world.seedCluster();
    await world.seed();
    const retained = { apiVersion: '', kind: '', metadata: storedMeta({ name: `${key.namespace}.${key.name}` }) };
    const watch = world.controller.watches.find(({ kind }) => kind.kind === 'RetainedControlPlane');
    expect(watch?.keys(undefined, retained)).toEqual([key]);
    expect(watch?.keys(retained, undefined)).toEqual([key]);
  });

  test('It does not let the data of another owner’s TenantControlPlane of that name be adopted, and reports what is in the way', async () => {
    await world.seedCluster();
    await world.seed();
    await world.server.seed(retainedControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'RetainedControlPlane',
      metadata: { name: `${key.namespace}.${key.name}` },
      spec: { formerUID: 'former', controllerUID: 'another', record: '{}' },
    });
    const { status } = await world.reconcile();
    const created = conditionOf(status, 'TenantControlPlaneCreated');
    expect(created).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect(created?.message).toContain('RetainedControlPlane');
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeUndefined();
  });

  test('Its TenantControlPlane retains its data, and no longer once it is deleted itself', async () => {
    await world.seedCluster();
    const scp = await world.seed();
    await world.reconcile();
    const policy = async (): Promise<string | undefined> =>
      (await world.server.admin.get(tenantControlPlane, key))?.metadata.annotations?.[annotations.deletionPolicy];
    expect(await policy()).toBe('Retain');
    await world.server.admin.patch(tenantControlPlane, key, {
      type: 'merge',
      body: { metadata: { finalizers: ['a/b'] } },
    });
    expect((await world.controller.finalize?.(scp, world.ctx))?.finished).toBe(false);
    expect(await policy()).toBeUndefined();
  });

  test('Its overrides are passed on, and removed again', async () => {
    await world.seedCluster();
    const dataStoreOverrides = [{ resource: '/events', dataStore: 'events' }];
    await world.seed({}, { dataStoreOverrides });
    await world.reconcile();
    expect((await world.server.admin.get(tenantControlPlane, key))?.spec).toMatchObject({ dataStoreOverrides });
    const body = { spec: { dataStoreOverrides: null } };
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body });
    await world.reconcile();
    expect((await world.server.admin.get(tenantControlPlane, key))?.spec).not.toHaveProperty('dataStoreOverrides');
  });

  test('Its placement settings are passed on until its TenantControlPlane names a DataStore', async () => {
    await world.seedCluster();
    const dataStoreSelector = { matchLabels: { tier: 'gold' } };
    const dataStoreTolerations = [{ key: 'team', operator: 'Exists' }];
    await world.seed({}, { dataStoreSelector, dataStoreTolerations });
    await world.reconcile();
    const made = await world.server.admin.get(tenantControlPlane, key);
    expect(made?.spec).toMatchObject({ dataStoreSelector, dataStoreTolerations });
    expect(made?.spec).not.toHaveProperty('dataStore');
    const scp = await world.server.admin.get(stewardControlPlane, key);
    const cluster = await world.server.admin.get(capiCluster, key);
    if (scp === undefined || cluster === undefined || made === undefined) throw new Error('they are there');
    const specBeside = (dataStore: string): unknown =>
      tenantControlPlaneOf(scp, cluster, {
        existing: { ...made, spec: { ...made.spec, dataStore } },
        now: world.ctx.now,
      }).spec;
    expect(specBeside('default')).not.toHaveProperty('dataStoreSelector');
    expect(specBeside('default')).toHaveProperty('dataStore', 'default');
    expect(specBeside('')).toHaveProperty('dataStoreSelector', dataStoreSelector);
  });

  test('It is paused with its Cluster, as is its TenantControlPlane, and both continue afterwards', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: true } } });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'Paused')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('spec.paused'),
    });
    const annotation = 'steward.butlerlabs.dev/paused';
    expect((await world.server.admin.get(tenantControlPlane, key))?.metadata.annotations?.[annotation]).toBeDefined();
    await world.server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: false } } });
    expect(conditionOf((await world.reconcile()).status, 'Paused')).toMatchObject({ status: 'False' });
    expect((await world.server.admin.get(tenantControlPlane, key))?.metadata.annotations?.[annotation]).toBeUndefined();
  });

  test('A TenantControlPlane of the same name that it does not own is not adopted', async () => {
    await world.seedCluster();
    await world.seed();
    await world.server.seed(tenantControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: key,
      spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.30.0' } },
    });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'TenantControlPlaneCreated')).toMatchObject({
      status: 'False',
      reason: 'OwnedByAnother',
    });
    expect((await world.server.admin.get(tenantControlPlane, key))?.spec.kubernetes.version).toBe('v1.30.0');
  });

  test('A spec that is refused does not affect a running control plane, and its kubeconfig stays current', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    await world.server.seed(kinds.Secret, tenantSecret('my-cluster-admin-kubeconfig', { 'admin.conf': 'bmV3' }));
    const why = 'admission webhook denied the request: no such DataStore';
    world.server.failNext({ verb: 'apply', kind: 'TenantControlPlane' }, new ApiError(403, 'Forbidden', why));
    const { status, afterMs } = await world.reconcile();
    // The DataStore may be created meanwhile, which no watch reports.
    expect(afterMs).toBe(10_000);
    expect(status).toMatchObject({ ready: true, replicas: 2, readyReplicas: 2 });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'True' });
    expect(conditionOf(status, 'TenantControlPlaneCreated')).toMatchObject({ status: 'False', reason: 'Refused' });
    expect(conditionOf(status, 'Ready')).toMatchObject({ status: 'False' });
    expect(conditionOf(status, 'Ready')?.message).toContain('no such DataStore');
    const kubeconfig = await world.server.admin.get(kinds.Secret, {
      namespace: 'default',
      name: 'my-cluster-kubeconfig',
    });
    expect(kubeconfig?.data).toEqual({ value: 'bmV3' });
  });

  test('Objects of another manager are not changed', async () => {
    const ours = stewardControlPlaneController({
      cluster: world.server,
      watchFilter: 'mine',
      infrastructure: noInfrastructureWatches,
      blockers: noBlockerWatches,
    });
    const scp = await world.seed();
    expect(ours.serves?.(scp)).toBe(false);
    expect(ours.serves?.(await world.seed({ labels: { 'cluster.x-k8s.io/watch-filter': 'mine' } }))).toBe(true);
  });

  test('Its pods are replaced once the time in spec.rollout.after has come, and not again when that is removed', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    const mark = async () =>
      (await world.server.admin.get(tenantControlPlane, key))?.spec.controlPlane.deployment.podAdditionalMetadata
        ?.annotations?.[annotations.rolloutAfter];
    const rollout = async (after: string | null) => {
      await world.server.admin.patch(stewardControlPlane, key, {
        type: 'merge',
        body: { spec: { rollout: { after } } },
      });
      return world.reconcile();
    };
    const [past, later] = ['2025-12-31T00:00:00Z', '2026-01-01T00:10:00Z'];
    await rollout(past);
    // Its pods are younger than that.
    expect(await mark()).toBeUndefined();
    expect(await rollout(later)).toMatchObject({ afterMs: 600_000 });
    expect(await mark()).toBeUndefined();
    world.at(new Date(later));
    await world.reconcile();
    expect(await mark()).toBe(later);
    await rollout(null);
    expect(await mark()).toBe(later);
  });
});

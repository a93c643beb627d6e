import { beforeEach, describe, expect, test } from '@jest/globals';
import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import { clusterAddon } from '../../../clusterstacks/api/cluster-addon.ts';
import { clusterStackLabels } from '../../../clusterstacks/api/names.ts';
import { isReasonOf } from '../../../api/conditions.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, PolicyRule, Resource } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { noInfrastructureWatches as infrastructure } from '../../../testing/fake/no-infrastructure-watches.ts';
import { noBlockerWatches as blockers } from '../../../testing/fake/no-blocker-watches.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { access } from '../access.ts';
import { addonGateAccess } from './addon-gate-access.ts';
import { stewardControlPlaneController } from '../controller.ts';

const key = { namespace: 'default', name: 'blue' };
const oldClass = 'docker-test-1-35-v1';
const newClass = 'docker-test-1-36-v2';
const ctx = {
  signal: new AbortController().signal,
  now: new Date('2026-01-01T00:00:00Z'),
  log: silent,
  event: (_type: string, reason: string, message: string) => {
    events.push(`${reason}: ${message}`);
  },
};

let server: FakeCluster;
const rights: PolicyRule[] = [];

const controlPlanes = async (): Promise<readonly StewardControlPlane[]> =>
  (await server.admin.list<StewardControlPlane>(stewardControlPlane)).items;

const events: string[] = [];

async function reconcile(
  of: { readonly gate: boolean; readonly watchFilter?: string } = { gate: true },
): Promise<StewardControlPlane['status']> {
  const known = await controlPlanes();
  const addons = of.gate ? { addons: { controlPlanes: () => known } } : {};
  const controller = stewardControlPlaneController({
    cluster: server,
    watchFilter: of.watchFilter ?? '',
    infrastructure,
    blockers,
    ...addons,
  });
  const [scp] = known;
  if (scp === undefined) throw new Error('there is no StewardControlPlane');
  const { status } = await controller.reconcile(scp, ctx);
  const patch = { type: 'merge', body: { status } } as const;
  await server.admin.patch(stewardControlPlane, key, patch, { subresource: 'status' });
  return status;
}

const version = async (): Promise<string | undefined> =>
  (await server.admin.get<TenantControlPlane>(tenantControlPlane, key))?.spec.kubernetes.version;

const setCluster = (topology: object | null): Promise<Resource> =>
  server.seed(capiCluster, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: key,
    spec: {
      topology,
      controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: key.name },
    },
  });

const setClass = (name: string, labels: Readonly<Record<string, string>>, namespace = 'default'): Promise<Resource> =>
  server.seed(capiClusterClass, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { namespace, name, labels },
  });

const setAddon = (spec: object, message = ''): Promise<Resource> =>
  server.seed(clusterAddon, {
    apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
    kind: 'ClusterAddon',
    metadata: { namespace: 'default', name: 'cluster-addon-blue' },
    spec: { clusterRef: { kind: 'Cluster', name: 'blue' }, ...spec },
    status: {
      ready: false,
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NotReady', message, lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  });

const setVersion = async (wanted: string, rest: object = {}): Promise<void> => {
  const body = { spec: { version: wanted, ...rest } };
  await server.admin.patch(stewardControlPlane, key, { type: 'merge', body });
};

/** A control plane of the old class and version that runs. */
beforeEach(async () => {
  rights.splice(0, rights.length, ...access, ...addonGateAccess);
  server = new FakeCluster({
    access: rights,
    collectsGarbage: false,
    now: () => ctx.now.getTime(),
  });
  await setClass(oldClass, { [clusterStackLabels.release]: oldClass });
  await setClass(newClass, { [clusterStackLabels.release]: newClass });
  await setCluster({ classRef: { name: oldClass } });
  await server.seed(stewardControlPlane, {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: {
      ...key,
      ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'blue', uid: 'u' }],
    },
    spec: { version: 'v1.35.6', replicas: 2, kubelet: {}, network: {} },
    status: {
      externalManagedControlPlane: true,
      version: 'v1.35.6',
      initialization: { controlPlaneInitialized: true },
    },
  });
  await reconcile();
  const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 };
  const deployment = { selector: 'a=b', name: 'blue', namespace: 'default', ...counts };
  const body = {
    status: { kubernetesResources: { version: { version: 'v1.35.6', status: 'Ready' }, deployment } },
  };
  await server.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
  await setCluster({ classRef: { name: newClass } });
});

describe('The upgrade of a control plane of a cluster stack', () => {
  test('waits until the ClusterAddon has completed the stages before it, and names what it waits for', async () => {
    const message = 'stage cni is not complete: "ds.ready" is false';
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' }, message);
    await setVersion('v1.36.3');
    const status = await reconcile();
    expect(await version()).toBe('v1.35.6');
    expect(status?.version).toBe('v1.35.6');
    expect(status?.upToDateReplicas).toBe(0);
    const rolling = status?.conditions?.find(({ type }) => type === 'RollingOut');
    expect(rolling).toMatchObject({ status: 'True', reason: 'WaitingForClusterAddon' });
    expect(rolling?.message).toBe(
      `the upgrade to v1.36.3 waits for ClusterAddon cluster-addon-blue to complete BeforeClusterUpgrade of the ClusterClass ${newClass}: ${message}; to upgrade without waiting, set the annotation steward.butlerlabs.dev/upgrade-before-addons=v1.36.3 on the StewardControlPlane or its Cluster`,
    );
    expect(isReasonOf('StewardControlPlane', 'RollingOut', 'WaitingForClusterAddon')).toBe(true);
    await setAddon({ clusterStack: newClass, hook: '' });
    const after = await reconcile();
    expect(await version()).toBe('v1.36.3');
    expect(after?.conditions?.find(({ type }) => type === 'RollingOut')?.reason).not.toBe('WaitingForClusterAddon');
  });

  test('waits until the ClusterAddon has been reconciled for the new class', async () => {
    await setAddon({ clusterStack: oldClass, hook: '' });
    await setVersion('v1.36.3');
    await reconcile();
    expect(await version()).toBe('v1.35.6');
  });

  test('waits until a deleted ClusterAddon exists again', async () => {
    await setVersion('v1.36.3');
    const status = await reconcile();
    expect(await version()).toBe('v1.35.6');
    const rolling = status?.conditions?.find(({ type }) => type === 'RollingOut');
    expect(rolling?.message).toContain('which does not exist yet');
  });

  test('names the missing label of a Cluster that no manager with the filter reconciles', async () => {
    await setVersion('v1.36.3');
    await server.admin.patch(stewardControlPlane, key, {
      type: 'merge',
      body: { metadata: { labels: { 'cluster.x-k8s.io/watch-filter': 'blue' } } },
    });
    const status = await reconcile({ gate: true, watchFilter: 'blue' });
    const rolling = status?.conditions?.find(({ type }) => type === 'RollingOut');
    expect(rolling?.message).toContain('add the label cluster.x-k8s.io/watch-filter=blue to the Cluster');
  });

  test('waits if only the add-ons of a class of the same name in another namespace are completed', async () => {
    await setClass(newClass, { [clusterStackLabels.release]: newClass }, 'stacks');
    await setCluster({ classRef: { name: newClass, namespace: 'stacks' } });
    await setAddon({ clusterStack: newClass, hook: '' });
    await setVersion('v1.36.3');
    const status = await reconcile();
    expect(await version()).toBe('v1.35.6');
    const rolling = status?.conditions?.find(({ type }) => type === 'RollingOut');
    expect(rolling?.message).toContain(`which has not observed the ClusterClass stacks/${newClass} yet`);
    await setAddon({ clusterStack: newClass, clusterStackNamespace: 'stacks', hook: '' });
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });

  test('delays no other change', async () => {
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' });
    await setVersion('v1.36.3', { replicas: 3 });
    await reconcile();
    const tenant = await server.admin.get<TenantControlPlane>(tenantControlPlane, key);
    expect(tenant?.spec.controlPlane.deployment.replicas).toBe(3);
    expect(await version()).toBe('v1.35.6');
  });

  test('continues unchanged once it has begun', async () => {
    await setAddon({ clusterStack: newClass, hook: '' });
    await setVersion('v1.36.3');
    await reconcile();
    await setAddon({ clusterStack: newClass, hook: 'AfterClusterUpgrade' });
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });
});

describe('A manager without the permissions of the layer', () => {
  const seedDefinition = () =>
    server.seed(kinds.CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'clusteraddons.clusterstack.x-k8s.io' },
    });

  test('holds an upgrade that may have add-ons, names the missing permission, and delays nothing else', async () => {
    rights.splice(0, rights.length, ...access);
    await seedDefinition();
    await setVersion('v1.36.3', { replicas: 3 });
    const status = await reconcile();
    const tenant = await server.admin.get<TenantControlPlane>(tenantControlPlane, key);
    expect([await version(), tenant?.spec.controlPlane.deployment.replicas]).toEqual(['v1.35.6', 3]);
    const rolling = status?.conditions?.find(({ type }) => type === 'RollingOut');
    expect(rolling).toMatchObject({ reason: 'WaitingForClusterAddon', message: expect.stringContaining('forbidden') });
    rights.push(...addonGateAccess);
    await setAddon({ clusterStack: newClass, hook: '' });
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });

  test('holds no upgrade if ClusterAddons are not defined', async () => {
    rights.splice(0, rights.length, ...access);
    await setVersion('v1.36.3');
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });
});

describe('An upgrade that is requested before its add-ons', () => {
  const name = 'steward.butlerlabs.dev/upgrade-before-addons';
  const annotate = (kind: KindRef, value: string): Promise<Resource> =>
    server.admin.patch(kind, key, { type: 'merge', body: { metadata: { annotations: { [name]: value } } } });

  test.each<[string, KindRef, string]>([
    ['StewardControlPlane', stewardControlPlane, 'v1.36.3'],
    ['Cluster', capiCluster, ' 1.36.3'],
  ])('by an annotation of the %s continues, and reports what it did not wait for', async (_, kind, value) => {
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' }, 'stage cni is broken');
    await annotate(kind, value);
    await setVersion('v1.36.3');
    events.length = 0;
    await reconcile();
    expect(await version()).toBe('v1.36.3');
    const why = `upgrading without the add-ons because the annotation ${name} names v1.36.3: the upgrade to v1.36.3 does not wait for ClusterAddon cluster-addon-blue to complete BeforeClusterUpgrade of the ClusterClass ${newClass}: stage cni is broken`;
    expect(events).toContain(`UpgradedBeforeAddons: ${why}`);
    const told = (await reconcile())?.conditions?.find(({ type }) => type === 'RollingOut');
    expect(told).toMatchObject({ status: 'True', reason: 'WithoutClusterAddon' });
    expect(told?.message).toContain(why);
    expect(isReasonOf('StewardControlPlane', 'RollingOut', 'WithoutClusterAddon')).toBe(true);
    expect(events.filter((event) => event.startsWith('UpgradedBeforeAddons'))).toHaveLength(1);
  });

  test('waits if the annotation names another version', async () => {
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' });
    await annotate(stewardControlPlane, 'v1.36.2');
    await setVersion('v1.36.3');
    await reconcile();
    expect(await version()).toBe('v1.35.6');
  });

  test('reports nothing about add-ons that are complete', async () => {
    await setAddon({ clusterStack: newClass, hook: '' });
    await annotate(stewardControlPlane, 'v1.36.3');
    await setVersion('v1.36.3');
    events.length = 0;
    const status = await reconcile();
    expect(await version()).toBe('v1.36.3');
    expect(events).toEqual([]);
    expect(status?.conditions?.find(({ type }) => type === 'RollingOut')?.reason).not.toBe('WithoutClusterAddon');
  });
});

describe('An upgrade does not wait', () => {
  test('if the layer of cluster stacks is disabled', async () => {
    await setAddon({ clusterStack: oldClass, hook: 'BeforeClusterUpgrade' });
    await setVersion('v1.36.3');
    await reconcile({ gate: false });
    expect(await version()).toBe('v1.36.3');
  });

  test('if ClusterAddons are not installed', async () => {
    server.withdraw(clusterAddon);
    await setVersion('v1.36.3');
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });

  test.each([
    ['without topology', null],
    ['of a class that no release made', { classRef: { name: 'plain' } }],
  ])('for a Cluster %s', async (_, topology) => {
    await setClass('plain', {});
    await setCluster(topology);
    await setVersion('v1.36.3');
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });

  test('for the add-ons of a control plane that never ran, which wait for it', async () => {
    const body = { status: { initialization: null, version: null } };
    await server.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await setVersion('v1.36.3');
    await reconcile();
    expect(await version()).toBe('v1.36.3');
  });
});

describe('A change of a ClusterAddon', () => {
  test('enqueues the control plane of its Cluster', async () => {
    await setAddon({});
    const known = await controlPlanes();
    const addons = { controlPlanes: () => known };
    const controller = stewardControlPlaneController({
      cluster: server,
      watchFilter: '',
      infrastructure,
      blockers,
      addons,
    });
    const watch = controller.watches.find(({ kind }) => kind.kind === 'ClusterAddon');
    const addon = await server.admin.get(clusterAddon, { namespace: 'default', name: 'cluster-addon-blue' });
    expect(watch?.keys(undefined, addon)).toEqual([key]);
    expect(watch?.optional).toBe(true);
  });
});

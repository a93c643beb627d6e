import { beforeEach, describe, expect, test } from '@jest/globals';
import { isReasonOf, conditionTable } from '../../api/conditions.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../runtime/controller.ts';
import { ApiError } from '../../runtime/errors.ts';
import { silent } from '../../runtime/logger.ts';
import { FakeCluster } from '../../testing/fake-cluster.ts';
import { access } from './access.ts';
import { capiCluster, capiMachine } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { tenantControlPlaneOf } from './components/tenant-control-plane.ts';
import { stewardControlPlaneController } from './controller.ts';
import type { InfrastructureCluster } from './infrastructure-patch.ts';

const key = { namespace: 'default', name: 'my-cluster' };
const infraKind = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'AnyCluster',
  plural: 'anyclusters',
  namespaced: true,
} as const;

const ctx: Context = {
  signal: new AbortController().signal,
  now: new Date('2026-01-01T00:00:00Z'),
  log: silent,
  event: () => undefined,
};

const foreign = (kind: string, name: string) => ({
  apiVersion: 'example.com/v1',
  kind,
  name,
  uid: 'foreign',
  controller: true,
});

const infraRights = { apiGroups: [infraKind.group], resources: ['*'], verbs: ['get', 'patch'] };

describe('A StewardControlPlane', () => {
  let server: FakeCluster;
  let controller: ReturnType<typeof stewardControlPlaneController>;

  beforeEach(async () => {
    server = new FakeCluster({ access: [...access, infraRights], collectsGarbage: false });
    controller = stewardControlPlaneController({ cluster: server, watchFilter: '' });
    await server.seed(kinds.CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'anyclusters.infrastructure.cluster.x-k8s.io',
        labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1' },
      },
      spec: { group: infraKind.group, scope: 'Namespaced', names: { kind: 'AnyCluster', plural: 'anyclusters' } },
    } as Resource);
    await server.seed(infraKind, {
      apiVersion: `${infraKind.group}/v1beta1`,
      kind: 'AnyCluster',
      metadata: key,
      spec: {},
    } as Resource);
  });

  const seedCluster = (spec: object = {}) =>
    server.seed(capiCluster, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: key,
      spec: {
        infrastructureRef: { apiGroup: infraKind.group, kind: 'AnyCluster', name: key.name },
        controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: key.name },
        clusterNetwork: { services: { cidrBlocks: ['10.112.0.0/16'] }, pods: { cidrBlocks: ['10.128.0.0/16'] } },
        ...spec,
      },
    } as Resource);

  const seed = (metadata: object = {}, spec: object = {}) =>
    server.seed(stewardControlPlane, {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: 'StewardControlPlane',
      metadata: {
        ...key,
        ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: key.name, uid: 'u' }],
        ...metadata,
      },
      spec: {
        version: '1.36.3',
        replicas: 2,
        registry: 'registry.k8s.io',
        kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
        network: { serviceType: 'NodePort' },
        addons: { coreDNS: { dnsServiceIPs: ['10.112.0.99'] } },
        ...spec,
      },
    } as Resource);

  const visit = async () => {
    const scp = await server.admin.get(stewardControlPlane, key);
    if (scp === undefined) throw new Error('there is no StewardControlPlane');
    const result = await controller.reconcile(scp, ctx);
    if (result.status !== undefined) {
      await server.admin.patch(
        stewardControlPlane,
        key,
        { type: 'merge', body: { status: result.status } },
        { subresource: 'status' },
      );
    }
    return result;
  };

  const tenantSays = async (status: object) => {
    await server.admin.patch(tenantControlPlane, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  };

  const tenantIsReady = async () => {
    await tenantSays({
      controlPlaneEndpoint: '172.30.0.10:31443',
      kubeconfig: { admin: { secretName: 'my-cluster-admin-kubeconfig' } },
      certificates: { ca: { secretName: 'my-cluster-ca' } },
      conditions: [condition('TenantConfigured', 'True')],
      kubernetesResources: {
        version: { version: 'v1.36.3', status: 'Ready' },
        deployment: {
          selector: 'a=b',
          name: 'x',
          namespace: 'y',
          replicas: 2,
          readyReplicas: 2,
          availableReplicas: 2,
          updatedReplicas: 2,
        },
      },
    });
    await server.seed(kinds.Secret, secret('my-cluster-admin-kubeconfig', { 'admin.conf': 'a3ViZQ==' }));
    await server.seed(
      kinds.Secret,
      secret('my-cluster-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5', 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' }),
    );
  };

  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: 'X',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });

  const secret = (name: string, data: object): Resource => {
    const owner = {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      name: key.name,
      uid: 't',
      controller: true,
    };
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name, ownerReferences: [owner] },
      data,
    } as Resource;
  };

  const conditionOf = (status: StewardControlPlane['status'], type: string) =>
    status?.conditions?.find((each) => each.type === type);

  test('Without an owning Cluster it says that it waits for one and makes nothing', async () => {
    await seed({ ownerReferences: [] });
    const { status } = await visit();
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'False', reason: 'WaitingForCluster' });
    expect(conditionOf(status, 'Available')?.message).toContain('controlPlaneRef');
    expect(status?.externalManagedControlPlane).toBe(true);
    expect(await server.admin.get(tenantControlPlane, key)).toBeUndefined();
  });

  test('Its TenantControlPlane takes the networks of the Cluster and is owned by it', async () => {
    await seedCluster();
    const scp = await seed();
    const { status } = await visit();
    const tenant = await server.admin.get(tenantControlPlane, key);
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

  test('Its stores of single resources are handed down, and taken back', async () => {
    await seedCluster();
    const dataStoreOverrides = [{ resource: '/events', dataStore: 'events' }];
    await seed({}, { dataStoreOverrides });
    await visit();
    expect((await server.admin.get(tenantControlPlane, key))?.spec).toMatchObject({ dataStoreOverrides });
    const body = { spec: { dataStoreOverrides: null } };
    await server.admin.patch(stewardControlPlane, key, { type: 'merge', body });
    await visit();
    expect((await server.admin.get(tenantControlPlane, key))?.spec).not.toHaveProperty('dataStoreOverrides');
  });

  test('Its wishes for a DataStore are handed down as long as none is named, by whomever', async () => {
    await seedCluster();
    const dataStoreSelector = { matchLabels: { tier: 'gold' } };
    const dataStoreTolerations = [{ key: 'team', operator: 'Exists' }];
    await seed({}, { dataStoreSelector, dataStoreTolerations });
    await visit();
    const made = await server.admin.get(tenantControlPlane, key);
    expect(made?.spec).toMatchObject({ dataStoreSelector, dataStoreTolerations });
    expect(made?.spec).not.toHaveProperty('dataStore');
    const scp = await server.admin.get(stewardControlPlane, key);
    const cluster = await server.admin.get(capiCluster, key);
    if (scp === undefined || cluster === undefined || made === undefined) throw new Error('they are there');
    const specBeside = (dataStore: string): unknown =>
      tenantControlPlaneOf(scp, cluster, { ...made, spec: { ...made.spec, dataStore } }).spec;
    expect(specBeside('default')).not.toHaveProperty('dataStoreSelector');
    expect(specBeside('default')).toHaveProperty('dataStore', 'default');
    expect(specBeside('')).toHaveProperty('dataStoreSelector', dataStoreSelector);
  });

  test('Once the tenant is configured the Secrets stand before it calls itself initialized', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    const before = server.calls.length;
    const { status } = await visit();
    expect(status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      initialized: true,
      ready: true,
      version: 'v1.36.3',
      versions: [{ version: 'v1.36.3', replicas: 2 }],
      selector: 'a=b',
      unavailableReplicas: 0,
    });
    const kubeconfig = await server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-kubeconfig' });
    expect(kubeconfig).toMatchObject({ type: 'cluster.x-k8s.io/secret', data: { value: 'a3ViZQ==' } });
    expect(kubeconfig?.metadata.labels?.[clusterNameLabel]).toBe('my-cluster');
    const ca = await server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    expect(ca?.metadata.labels?.[clusterNameLabel]).toBe('my-cluster');
    expect(ca?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['TenantControlPlane']);
    expect(server.calls.slice(before).length).toBeLessThan(15);
  });

  test('The endpoint is patched into its own spec and into an infrastructure cluster of any kind', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    await visit();
    const endpoint = { host: '172.30.0.10', port: 31443 };
    expect((await server.admin.get(stewardControlPlane, key))?.spec.controlPlaneEndpoint).toEqual(endpoint);
    expect((await server.admin.get<InfrastructureCluster>(infraKind, key))?.spec?.controlPlaneEndpoint).toEqual(
      endpoint,
    );
  });

  test('The infrastructure cluster learns the endpoint when it answers, not before: Cluster API connects at once', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    await tenantSays({
      kubernetesResources: { version: { status: 'Provisioning' }, deployment: { readyReplicas: 0 } },
    });
    const { status } = await visit();
    expect(conditionOf(status, 'InfrastructureClusterPatched')).toMatchObject({
      status: 'False',
      reason: 'WaitingForControlPlane',
    });
    expect(conditionOf(status, 'Ready')?.message).toContain('the TenantControlPlane is Provisioning');
    expect((await server.admin.get<InfrastructureCluster>(infraKind, key))?.spec?.controlPlaneEndpoint).toBeUndefined();
    expect((await server.admin.get(stewardControlPlane, key))?.spec.controlPlaneEndpoint?.port).toBe(31443);
  });

  test('An infrastructure cluster with another endpoint is left alone and named', async () => {
    await seedCluster();
    await server.admin.patch(infraKind, key, {
      type: 'merge',
      body: { spec: { controlPlaneEndpoint: { host: 'other', port: 1 } } },
    });
    await seed();
    await visit();
    await tenantIsReady();
    const { status } = await visit();
    expect(conditionOf(status, 'InfrastructureClusterPatched')).toMatchObject({
      status: 'False',
      reason: 'EndpointMismatch',
    });
    expect(conditionOf(status, 'InfrastructureClusterPatched')?.message).toMatch(/other:1.*172\.30\.0\.10:31443/);
    expect((await server.admin.get<InfrastructureCluster>(infraKind, key))?.spec?.controlPlaneEndpoint?.host).toBe(
      'other',
    );
  });

  test('During an upgrade both versions are told, the installed one first', async () => {
    await seedCluster();
    await seed({}, { version: 'v1.36.3' });
    await visit();
    await tenantIsReady();
    await tenantSays({
      kubernetesResources: {
        version: { version: 'v1.35.4', status: 'Upgrading' },
        deployment: { replicas: 3, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 1 },
      },
    });
    const { status } = await visit();
    expect(status?.version).toBe('v1.35.4');
    expect(status?.versions).toEqual([
      { version: 'v1.35.4', replicas: 2 },
      { version: 'v1.36.3', replicas: 1 },
    ]);
    expect(conditionOf(status, 'RollingOut')).toMatchObject({ status: 'True' });
  });

  test('It rests while its Cluster is paused, and its TenantControlPlane with it, and both wake', async () => {
    await seedCluster();
    await seed();
    await visit();
    await server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: true } } });
    const { status } = await visit();
    expect(conditionOf(status, 'Paused')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('spec.paused'),
    });
    const annotation = 'steward.butlerlabs.dev/paused';
    expect((await server.admin.get(tenantControlPlane, key))?.metadata.annotations?.[annotation]).toBeDefined();
    await server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: false } } });
    expect(conditionOf((await visit()).status, 'Paused')).toMatchObject({ status: 'False' });
    expect((await server.admin.get(tenantControlPlane, key))?.metadata.annotations?.[annotation]).toBeUndefined();
  });

  test('A TenantControlPlane of the same name that it does not own is not taken over', async () => {
    await seedCluster();
    await seed();
    await server.seed(tenantControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: key,
      spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.30.0' } },
    } as Resource);
    const { status } = await visit();
    expect(conditionOf(status, 'TenantControlPlaneCreated')).toMatchObject({
      status: 'False',
      reason: 'OwnedByAnother',
    });
    expect((await server.admin.get(tenantControlPlane, key))?.spec.kubernetes.version).toBe('v1.30.0');
  });

  test('Deletion waits for workers, then for the TenantControlPlane, then is finished', async () => {
    await seedCluster();
    const scp = await seed();
    await visit();
    await server.seed(capiMachine, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { namespace: 'default', name: 'w', labels: { [clusterNameLabel]: key.name } },
    });
    const last = async () => controller.finalize?.(scp, ctx);
    const waiting = await last();
    expect(waiting?.finished).toBe(false);
    expect(conditionOf(waiting?.status, 'Deleting')).toMatchObject({ reason: 'WaitingForWorkersDeletion' });
    await server.admin.delete(capiMachine, { namespace: 'default', name: 'w' });
    expect((await last())?.finished).toBe(false);
    expect(await server.admin.get(tenantControlPlane, key)).toBeUndefined();
    expect((await last())?.finished).toBe(true);
  });

  test('Deletion tries again when admission keeps the TenantControlPlane for a moment, and says why', async () => {
    await seedCluster();
    const scp = await seed();
    await visit();
    const why = 'cannot be deleted while its data moves to another DataStore';
    server.failNext({ verb: 'delete', kind: 'TenantControlPlane' }, new ApiError(403, 'Forbidden', why));
    const waiting = await controller.finalize?.(scp, ctx);
    expect(waiting).toMatchObject({ finished: false, afterMs: 2000 });
    expect(conditionOf(waiting?.status, 'Deleting')?.message).toContain(why);
    await controller.finalize?.(scp, ctx);
    expect((await controller.finalize?.(scp, ctx))?.finished).toBe(true);
  });

  test('A Cluster that names another control plane is not served, whatever the label says', async () => {
    await seedCluster({
      controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: 'another' },
    });
    await seed({ ownerReferences: [], labels: { [clusterNameLabel]: key.name } });
    const { status } = await visit();
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'False', reason: 'WaitingForCluster' });
    expect(conditionOf(status, 'Available')?.message).toMatch(/my-cluster.*another.*controlPlaneRef/);
    expect(await server.admin.get(tenantControlPlane, key)).toBeUndefined();
  });

  test.each([
    ['my-cluster-kubeconfig', {}],
    ['my-cluster-ca', {}],
    ['my-cluster-ca', { labels: { [clusterNameLabel]: 'my-cluster' }, ownerReferences: [foreign('Certificate', 'c')] }],
    ['my-cluster-ca', { ownerReferences: [foreign('TenantControlPlane', 'another')] }],
  ])('A Secret %s that is somebody else’s (%j) is not overwritten but named', async (name, metadata) => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    await server.admin.delete(kinds.Secret, { namespace: 'default', name });
    const found = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name, ...metadata } };
    await server.seed(kinds.Secret, { ...found, data: { 'tls.crt': 'dGhlaXJz' } } as Resource);
    await tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    await server.seed(kinds.Secret, secret('my-tenant-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5' }));
    const { status } = await visit();
    expect(conditionOf(status, 'KubeadmResourcesCreated')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect(conditionOf(status, 'KubeadmResourcesCreated')?.message).toContain(`Secret ${name}`);
    expect(status?.initialization).toBeUndefined();
    const after = await server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.data).toEqual({ 'tls.crt': 'dGhlaXJz' });
    expect(after?.metadata.labels).toEqual('labels' in metadata ? metadata.labels : undefined);
  });

  test('Machines that join while the CA is rotated are told of all that are trusted', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    await server.admin.delete(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    await tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    const data = { 'ca.crt': 'bmV3', 'ca.key': 'a2V5', 'ca-bundle.crt': 'bmV3b2xk' };
    await server.seed(kinds.Secret, secret('my-tenant-ca', data));
    await visit();
    const found = await server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    expect(found?.data).toEqual({ 'tls.crt': 'bmV3b2xk', 'tls.key': 'a2V5' });
  });

  test('A Secret of its own TenantControlPlane is taken for the CA only', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    const name = 'my-cluster-kubeconfig';
    await server.seed(kinds.Secret, secret(name, { 'admin.conf': 'a3ViZQ==' }));
    const { status } = await visit();
    expect(conditionOf(status, 'KubeadmResourcesCreated')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    const after = await server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['TenantControlPlane']);
  });

  test('Its Secrets are repaired when their owner was taken away', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    await visit();
    const name = 'my-cluster-kubeconfig';
    const owned = await server.admin.get(kinds.Secret, { namespace: 'default', name });
    const body = { metadata: { ownerReferences: null }, data: { value: null } };
    const bare = await server.admin.patch(kinds.Secret, { namespace: 'default', name }, { type: 'merge', body });
    const keys = controller.watches.filter(({ kind }) => kind.kind === 'Secret').flatMap((to) => to.keys(owned, bare));
    expect(keys).toContainEqual(key);
    await visit();
    const after = await server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['StewardControlPlane']);
    expect(after?.data).toEqual({ value: 'a3ViZQ==' });
  });

  test('The address that the Cluster was given beforehand stays, also once it is published', async () => {
    await seedCluster({ controlPlaneEndpoint: { host: '172.30.0.10', port: 6443 } });
    await seed();
    const addressOf = async () => (await server.admin.get(tenantControlPlane, key))?.spec.networkProfile.address;
    await visit();
    expect(await addressOf()).toBe('172.30.0.10');
    await tenantIsReady();
    await visit();
    expect((await server.admin.get(stewardControlPlane, key))?.spec.controlPlaneEndpoint?.host).toBe('172.30.0.10');
    await visit();
    expect(await addressOf()).toBe('172.30.0.10');
  });

  test('An endpoint that the Cluster has from us pins no address', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    await visit();
    const body = { spec: { controlPlaneEndpoint: { host: '172.30.0.10', port: 31443 } } };
    await server.admin.patch(capiCluster, key, { type: 'merge', body });
    await visit();
    const tenant = await server.admin.get(tenantControlPlane, key);
    expect(tenant?.spec.networkProfile.address).toBeUndefined();
  });

  test('Deleted while it rests, it takes its TenantControlPlane along once it may', async () => {
    await seedCluster();
    const scp = await seed();
    await visit();
    await server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: true } } });
    await visit();
    expect((await controller.finalize?.(scp, ctx))?.finished).toBe(false);
    const resting = await server.admin.get(tenantControlPlane, key);
    expect(resting?.metadata.annotations).toHaveProperty([annotations.paused]);
    // Its own finalizer keeps it: only a TenantControlPlane that is awake lets go.
    const body = { metadata: { finalizers: ['test.example.com/kept'] } };
    await server.admin.patch(tenantControlPlane, key, { type: 'merge', body });
    await server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused: false } } });
    expect((await controller.finalize?.(scp, ctx))?.finished).toBe(false);
    const leaving = await server.admin.get(tenantControlPlane, key);
    expect(leaving?.metadata.deletionTimestamp).toBeDefined();
    expect(leaving?.metadata.annotations ?? {}).not.toHaveProperty([annotations.paused]);
  });

  test('Every condition and reason that it gives stands in the table', async () => {
    await seedCluster();
    await seed();
    await visit();
    await tenantIsReady();
    const { status } = await visit();
    for (const { type, reason } of status?.conditions ?? []) {
      const row = type as keyof (typeof conditionTable)['StewardControlPlane'];
      expect([type, reason, isReasonOf('StewardControlPlane', row, reason)]).toEqual([type, reason, true]);
    }
  });
});

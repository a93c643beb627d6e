import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { conditionTable, isReasonOf } from '../../../api/conditions.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { labels } from '../../../api/names.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import {
  ControlPlaneWorld,
  conditionNow,
  conditionOf,
  key,
  tenantSecret,
} from '../../../testing/worlds/control-plane-world.ts';

const foreign = (kind: string, name: string) => ({
  apiVersion: 'example.com/v1',
  kind,
  name,
  uid: 'foreign',
  controller: true,
});

describe('The Secrets of a Cluster', () => {
  let world: ControlPlaneWorld;

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
  });
  afterEach(async () => {
    const scp = await world.server.admin.get(stewardControlPlane, key);
    const unlisted = (scp?.status?.conditions ?? []).filter(({ type, reason }) => {
      const known = type as keyof typeof conditionTable.StewardControlPlane;
      return !isReasonOf('StewardControlPlane', known, reason);
    });
    expect(unlisted).toEqual([]);
  });

  const supply = async (name: string, data: object, type = 'cluster.x-k8s.io/secret') => {
    await world.server.admin.delete(kinds.Secret, { namespace: 'default', name });
    const metadata = { namespace: 'default', name, labels: { [clusterNameLabel]: 'my-cluster' } };
    await world.server.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type, data });
  };

  test('Its Secrets are updated when the tenant’s are rotated', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    await world.server.seed(kinds.Secret, tenantSecret('my-cluster-admin-kubeconfig', { 'admin.conf': 'bmV3' }));
    await world.reconcile();
    const found = await world.server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-kubeconfig' });
    expect(found?.data).toEqual({ value: 'bmV3' });
  });

  test('Its kubeconfig has labels with its Cluster and TenantControlPlane', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    const found = await world.server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-kubeconfig' });
    expect(found?.metadata.labels).toMatchObject({
      [clusterNameLabel]: 'my-cluster',
      [labels.secret]: 'kubeconfig',
      [labels.tcp]: 'my-cluster',
    });
  });

  test('A TenantControlPlane that cannot continue is quoted, so that its reason is shown here too', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    const message = 'CertificatesReady: Secret default/my-cluster-ca is in the way';
    const conditions = [{ ...conditionNow('Ready', 'False'), message }];
    await world.tenantSays({ controlPlaneEndpoint: '172.30.0.10:31443', conditions });
    const { status } = await world.reconcile();
    for (const type of ['Available', 'KubeadmResourcesCreated'])
      expect(conditionOf(status, type)?.message).toContain(message);
  });

  test.each([
    ['my-cluster-kubeconfig', {}],
    ['my-cluster-ca', {}],
    ['my-cluster-ca', { labels: { [clusterNameLabel]: 'my-cluster' }, ownerReferences: [foreign('Certificate', 'c')] }],
    ['my-cluster-ca', { ownerReferences: [foreign('TenantControlPlane', 'another')] }],
  ])('A Secret %s of another owner (%j) is not overwritten but reported', async (name, metadata) => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.server.admin.delete(kinds.Secret, { namespace: 'default', name });
    const found = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name, ...metadata } };
    await world.server.seed(kinds.Secret, { ...found, data: { 'tls.crt': 'dGhlaXJz' } });
    await world.tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5' }));
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'KubeadmResourcesCreated')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    expect(conditionOf(status, 'KubeadmResourcesCreated')?.message).toContain(`Secret ${name}`);
    expect(status?.initialization).toBeUndefined();
    const after = await world.server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.data).toEqual({ 'tls.crt': 'dGhlaXJz' });
    expect(after?.metadata.labels).toEqual('labels' in metadata ? metadata.labels : undefined);
  });

  test('Machines that join while the CA is rotated get all CAs that are trusted', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.server.admin.delete(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    await world.tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    const data = { 'ca.crt': 'bmV3', 'ca.key': 'a2V5', 'ca-bundle.crt': 'bmV3b2xk' };
    await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', data));
    await world.reconcile();
    const found = await world.server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    expect(found?.data).toEqual({ 'tls.crt': 'bmV3b2xk', 'tls.key': 'a2V5' });
  });

  test('User-supplied Secrets of the Cluster are used unchanged, and named', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5' }));
    await supply('my-cluster-kubeconfig', { value: 'dGhlaXJz' });
    await supply('my-cluster-ca', { 'tls.crt': 'Y3J0', 'tls.key': 'dGhlaXJz' });
    const { status } = await world.reconcile();
    expect(status?.initialization).toEqual({ controlPlaneInitialized: true });
    const told = conditionOf(status, 'KubeadmResourcesCreated');
    expect(told).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/kubeconfig was supplied.*ca was sup/),
    });
    for (const name of ['my-cluster-kubeconfig', 'my-cluster-ca']) {
      const after = await world.server.admin.get(kinds.Secret, { namespace: 'default', name });
      expect(Object.values(after?.data ?? {})).toContain('dGhlaXJz');
      expect(after?.metadata.ownerReferences).toBeUndefined();
    }
  });

  test.each([
    ['a CA that is not the control plane’s', 'CAMismatch', { 'tls.crt': 'b3RoZXI=', 'tls.key': 'a2V5' }, undefined],
    ['a CA without its key', 'OwnedByAnother', { 'tls.crt': 'Y3J0' }, undefined],
    ['a CA of another type', 'OwnedByAnother', { 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' }, 'Opaque'],
  ])(
    'A supplied Secret with %s is reported with the fix, and no worker can join',
    async (_name, reason, data, type) => {
      await world.seedCluster();
      await world.seed();
      await world.reconcile();
      await world.tenantIsReady();
      await world.tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
      await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5' }));
      await supply('my-cluster-ca', data, type);
      const { status } = await world.reconcile();
      expect(conditionOf(status, 'KubeadmResourcesCreated')).toMatchObject({ status: 'False', reason });
      expect(conditionOf(status, 'KubeadmResourcesCreated')?.message).toMatch(/my-cluster-ca.*delete it/);
      expect(status?.initialization).toBeUndefined();
    },
  );

  test('A CA of the type that the Cluster API book documents is used unchanged', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5' }));
    await supply('my-cluster-ca', { 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' }, 'kubernetes.io/tls');
    const { status } = await world.reconcile();
    expect(status?.initialization).toEqual({ controlPlaneInitialized: true });
    expect(conditionOf(status, 'KubeadmResourcesCreated')?.message).toContain('my-cluster-ca was supplied');
  });

  test('A supplied CA is named after a rotation, and the kubeconfig is updated all the same', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.tenantSays({ certificates: { ca: { secretName: 'my-tenant-ca' } } });
    await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5' }));
    await supply('my-cluster-ca', { 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' });
    const followed: string[] = [];
    world.hears((list) => followed.push(...list.map(({ fieldSelector = '' }) => fieldSelector)));
    await world.reconcile();
    expect(followed).toEqual(['metadata.name=my-cluster-ca']);
    const rotated = { 'ca.crt': 'bmV3', 'ca.key': 'bmV3', 'ca-bundle.crt': 'bmV3' };
    await world.server.seed(kinds.Secret, tenantSecret('my-tenant-ca', rotated));
    await world.server.seed(kinds.Secret, tenantSecret('my-cluster-admin-kubeconfig', { 'admin.conf': 'bmV3' }));
    const { status } = await world.reconcile();
    const told = conditionOf(status, 'KubeadmResourcesCreated');
    expect(told).toMatchObject({ status: 'False', reason: 'CAMismatch' });
    expect(told?.message).toMatch(/my-cluster-ca.*delete it.*or copy the tls.crt of Secret my-tenant-ca/);
    const read = (name: string) => world.server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect((await read('my-cluster-kubeconfig'))?.data).toEqual({ value: 'bmV3' });
    expect((await read('my-cluster-ca'))?.data).toEqual({ 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' });
    await world.server.admin.delete(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    await world.reconcile();
    expect(await read('my-cluster-ca')).toMatchObject({
      ...{ type: 'cluster.x-k8s.io/secret', data: { 'tls.crt': 'bmV3', 'tls.key': 'bmV3' } },
      metadata: { ownerReferences: [{ kind: 'StewardControlPlane' }] },
    });
  });

  test('A front-proxy CA and token keys that were supplied too late are named, and block nothing', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.tenantSays({ certificates: { frontProxyCA: { secretName: 'proxy' }, sa: { secretName: 'sa' } } });
    await world.server.seed(kinds.Secret, tenantSecret('proxy', { 'front-proxy-ca.crt': 'Y3J0' }));
    await world.server.seed(kinds.Secret, tenantSecret('sa', { 'sa.pub': 'cHVi' }));
    const messageNow = async () => conditionOf((await world.reconcile()).status, 'KubeadmResourcesCreated');
    await supply('my-cluster-proxy', { 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' });
    await supply('my-cluster-sa', { 'tls.crt': 'cHVi', 'tls.key': 'a2V5' });
    expect(await messageNow()).toMatchObject({ status: 'True', message: '' });
    await supply('my-cluster-proxy', { 'tls.crt': 'bGF0ZQ==', 'tls.key': 'a2V5' });
    await supply('my-cluster-sa', { 'tls.crt': 'bGF0ZQ==', 'tls.key': 'a2V5' });
    expect(await messageNow()).toMatchObject({
      ...{
        status: 'True',
        message: expect.stringMatching(/my-cluster-proxy was .*not used.*my-cluster-sa was .*not used/),
      },
    });
  });

  test('Cluster API gets the kubeconfig with the Service if there is an advertised address', async () => {
    await world.seedCluster();
    await world.seed({}, { network: { serviceType: 'NodePort', advertiseAddress: '198.51.100.1' } });
    await world.reconcile();
    await world.tenantIsReady();
    const both = { 'admin.conf': 'b3V0c2lkZQ==', 'admin.svc': 'aW5zaWRl' };
    await world.server.seed(kinds.Secret, tenantSecret('my-cluster-admin-kubeconfig', both));
    await world.reconcile();
    const found = await world.server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-kubeconfig' });
    expect(found?.data).toEqual({ value: 'aW5zaWRl' });
  });

  test('A Secret of its own TenantControlPlane is accepted for the CA only', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    const name = 'my-cluster-kubeconfig';
    await world.server.seed(kinds.Secret, tenantSecret(name, { 'admin.conf': 'a3ViZQ==' }));
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'KubeadmResourcesCreated')).toMatchObject({ status: 'False', reason: 'OwnedByAnother' });
    const after = await world.server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['TenantControlPlane']);
  });

  test('The CA that a TenantControlPlane retained, and that has its own name, is not a copy', async () => {
    await world.seedCluster();
    const { apiVersion, kind, metadata } = await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    const name = 'my-cluster-ca';
    await world.tenantSays({ certificates: { ca: { secretName: name } } });
    const data = { 'ca.crt': 'Y3J0', 'ca.key': 'a2V5', 'tls.crt': 'Y3J0', 'tls.key': 'a2V5' };
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }];
    const left = tenantSecret(name, data);
    await world.server.seed(kinds.Secret, { ...left, metadata: { ...left.metadata, ownerReferences } });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'KubeadmResourcesCreated')).toMatchObject({ status: 'True' });
    const after = await world.server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.data).toEqual(data);
    expect(after?.metadata.labels).toEqual({ [clusterNameLabel]: 'my-cluster' });
  });

  test('Its Secrets are repaired when their owner was removed', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    const name = 'my-cluster-kubeconfig';
    const owned = await world.server.admin.get(kinds.Secret, { namespace: 'default', name });
    const body = { metadata: { ownerReferences: null }, data: { value: null } };
    const bare = await world.server.admin.patch(kinds.Secret, { namespace: 'default', name }, { type: 'merge', body });
    const keys = world.controller.watches
      .filter(({ kind }) => kind.kind === 'Secret')
      .flatMap((to) => to.keys(owned, bare));
    expect(keys).toContainEqual(key);
    await world.reconcile();
    const after = await world.server.admin.get(kinds.Secret, { namespace: 'default', name });
    expect(after?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['StewardControlPlane']);
    expect(after?.data).toEqual({ value: 'a3ViZQ==' });
  });
});

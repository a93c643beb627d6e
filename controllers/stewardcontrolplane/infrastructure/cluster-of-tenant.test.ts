import { beforeEach, describe, expect, test } from '@jest/globals';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { ObjectMeta } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ControlPlaneWorld, key } from '../../../testing/worlds/control-plane-world.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { clusterOfTenant } from './cluster-of-tenant.ts';

describe('The Cluster of a TenantControlPlane', () => {
  let world: ControlPlaneWorld;
  let uid = '';

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
    await world.seedCluster();
    uid = (await world.seed()).metadata.uid;
  });

  const of = (metadata: ObjectMeta): Promise<string | undefined> =>
    clusterOfTenant({ cluster: world.server }, tenantControlPlaneWith({ metadata }), world.ctx);
  const owner = (change: object = {}) => ({
    ...{ apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2', kind: 'StewardControlPlane', name: key.name, uid },
    ...{ controller: true, ...change },
  });

  test('is the one whose control plane created it', async () => {
    await world.reconcile();
    const made = await world.server.admin.get(tenantControlPlane, key);
    if (made === undefined) throw new Error('no TenantControlPlane was made');
    expect(await clusterOfTenant({ cluster: world.server }, made, world.ctx)).toBe(key.name);
  });

  test.each<[string, () => ObjectMeta]>([
    ['has only the label', () => ({ ...key, labels: { [clusterNameLabel]: key.name } })],
    ['names a UID that is not there', () => ({ ...key, ownerReferences: [owner({ uid: 'forged' })] })],
    ['has another name than its owner', () => ({ ...key, name: 'thief', ownerReferences: [owner()] })],
    ['is not controlled by its owner', () => ({ ...key, ownerReferences: [owner({ controller: false })] })],
    ['has an owner of another kind', () => ({ ...key, ownerReferences: [owner({ kind: 'Cluster' })] })],
    ['has an owner of another group', () => ({ ...key, ownerReferences: [owner({ apiVersion: 'example.com/v1' })] })],
    ['is in another namespace', () => ({ ...key, namespace: 'other', ownerReferences: [owner()] })],
  ])('is none for one that %s', async (_name, metadata) => {
    expect(await of(metadata())).toBeUndefined();
  });

  test('is none while the Cluster does not reference its control plane', async () => {
    const body = { spec: { controlPlaneRef: { name: 'another' } } };
    await world.server.admin.patch(capiCluster, key, { type: 'merge', body });
    expect(await of({ ...key, ownerReferences: [owner()] })).toBeUndefined();
  });

  test('is none if the control plane is to run in another cluster', async () => {
    const externalClusterReference = {
      ...{ kubeconfigSecretName: 'k', kubeconfigSecretKey: 'v', deploymentNamespace: 'there' },
    };
    const body = { spec: { deployment: { externalClusterReference } } };
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body });
    expect(await of({ ...key, ownerReferences: [owner()] })).toBeUndefined();
  });
});

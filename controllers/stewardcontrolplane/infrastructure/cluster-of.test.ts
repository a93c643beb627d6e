import { beforeEach, describe, expect, test } from '@jest/globals';
import { asStored } from '../../../api/as-stored.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { ControlPlaneWorld, conditionOf, key } from '../../../testing/worlds/control-plane-world.ts';

describe('The Cluster of a StewardControlPlane', () => {
  let world: ControlPlaneWorld;

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
  });

  const anotherCluster = async (name: string) => {
    const controlPlaneRef = { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: key.name };
    const metadata = { namespace: 'default', name };
    const other = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, spec: { controlPlaneRef } };
    await world.server.seed(capiCluster, other);
  };

  const clusterOwner = (name: string) => ({ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name, uid: name });

  test('is none that references another control plane, whatever the label says', async () => {
    await world.seedCluster({
      controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: 'another' },
    });
    await world.seed({ ownerReferences: [], labels: { [clusterNameLabel]: key.name } });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'False', reason: 'WaitingForCluster' });
    expect(conditionOf(status, 'Available')?.message).toMatch(/my-cluster.*another.*controlPlaneRef/);
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeUndefined();
  });

  test('is none if two Clusters reference it from the start', async () => {
    await world.seedCluster();
    await anotherCluster('thief');
    await world.seed({ ownerReferences: [clusterOwner('thief'), clusterOwner(key.name)] });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'Available')?.message).toMatch(
      /thief and my-cluster all name this object.*its own StewardControlPlane/,
    );
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeUndefined();
  });

  test('stays the first one if another one references it later', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await anotherCluster('thief');
    const ownerReferences = [clusterOwner('thief'), clusterOwner(key.name)];
    const labels = { [clusterNameLabel]: 'thief' };
    await world.server.admin.patch(stewardControlPlane, key, {
      type: 'merge',
      body: { metadata: { ownerReferences, labels } },
    });
    const { status } = await world.reconcile();
    expect(status).toMatchObject({ ready: true });
    expect(conditionOf(status, 'OneCluster')).toMatchObject({ status: 'False', reason: 'SeveralClusters' });
    expect(conditionOf(status, 'OneCluster')?.message).toMatch(/serves the Cluster my-cluster; thief must name/);
    const thiefs = { namespace: 'default', name: 'thief-kubeconfig' };
    expect(await world.server.admin.get(kinds.Secret, thiefs)).toBeUndefined();
    expect((await world.server.admin.get(tenantControlPlane, key))?.metadata.labels?.[clusterNameLabel]).toBe(key.name);
    const left = { metadata: { ownerReferences: [clusterOwner(key.name)] } };
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body: left });
    expect(conditionOf((await world.reconcile()).status, 'OneCluster')).toMatchObject({ status: 'True' });
  });

  test('changes its reference, and both control planes are reconciled', () => {
    const naming = (name: string) => {
      const controlPlaneRef = { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name };
      return asStored<CapiCluster>({ apiVersion: '', kind: 'Cluster', metadata: key, spec: { controlPlaneRef } });
    };
    const keys = world.controller.watches
      .filter(({ kind }) => kind.kind === 'Cluster')
      .flatMap((watch) => watch.keys(naming('before'), naming('after')));
    expect(keys.map(({ name }) => name)).toEqual(['before', 'after']);
  });
});

import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { topologyOwnedLabel } from '../../../api/cluster-api/names.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ControlPlaneWorld, key } from '../../../testing/worlds/control-plane-world.ts';
import { clusterUpgrade } from './cluster-upgrade.ts';
import type { UpgradedControlPlane } from './cluster-upgrade.ts';

const owned = { [topologyOwnedLabel]: '' };

const controlPlane = (
  version: string,
  reported?: string,
  labels: Readonly<Record<string, string>> = owned,
): UpgradedControlPlane => ({
  metadata: { labels },
  spec: { version },
  ...(reported !== undefined && { status: { version: reported } }),
});

const clusterOf = (version: string | undefined, reason?: string): CapiCluster => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: storedMeta({ name: 'cluster', namespace: 'default' }),
  ...(version !== undefined && { spec: { topology: { version } } }),
  status: {
    conditions: [
      {
        type: 'TopologyReconciled',
        status: reason === undefined ? 'True' : 'False',
        reason: reason ?? 'ReconcileSucceeded',
        message: '',
        lastTransitionTime: '2030-01-01T00:00:00Z',
      },
    ],
  },
});

describe('A control plane is upgraded by the topology of its Cluster', () => {
  test.each<[string, string | undefined, UpgradedControlPlane, CapiCluster]>([
    ['before it has the version', 'v1.36.3', controlPlane('v1.35.4', 'v1.35.4'), clusterOf('v1.36.3')],
    ['until it reports that', 'v1.36.3', controlPlane('1.36.3', 'v1.35.4'), clusterOf('v1.36.3')],
    ['also at a minor between', 'v1.36.3', controlPlane('v1.35.4', 'v1.34.9'), clusterOf('v1.36.3')],
    ['while its workers are', 'v1.36.3', controlPlane('v1.36.3', 'v1.36.3'), clusterOf('v1.36.3', 'ClusterUpgrading')],
    [
      'while its workers wait for their turn',
      'v1.36.3',
      controlPlane('v1.36.3', 'v1.36.3'),
      clusterOf('v1.36.3', 'MachineDeploymentsUpgradePending'),
    ],
    ['not afterwards', undefined, controlPlane('v1.36.3', 'v1.36.3'), clusterOf('1.36.3')],
    [
      'not while somebody defers the upgrade of workers',
      undefined,
      controlPlane('v1.36.3', 'v1.36.3'),
      clusterOf('v1.36.3', 'MachineDeploymentsUpgradeDeferred'),
    ],
    [
      'not because a topology cannot be read',
      undefined,
      controlPlane('v1.36.3', 'v1.36.3'),
      clusterOf('v1.36.3', 'ReconcileFailed'),
    ],
    ['not before it had a version', undefined, controlPlane('v1.36.3'), clusterOf('v1.36.3')],
    ['not without a topology', undefined, controlPlane('v1.36.3', 'v1.35.4'), clusterOf(undefined)],
    ['not if a person has made it', undefined, controlPlane('v1.36.3', 'v1.35.4', {}), clusterOf('v1.36.3')],
  ])('%s', (_, expected, scp, cluster) => {
    expect(clusterUpgrade(scp, cluster)).toBe(expected);
  });
});

test('The TenantControlPlane knows of an upgrade of its Cluster as long as it lasts', async () => {
  const world = await ControlPlaneWorld.create();
  await world.seedCluster({ topology: { classRef: { name: 'class' }, version: 'v1.36.3' } });
  // What a person writes there counts nowhere.
  await world.seed({ labels: owned, annotations: { [annotations.clusterUpgrade]: 'v1.99.0' } });
  const told = async (): Promise<string | undefined> =>
    (await world.server.admin.get(tenantControlPlane, key))?.metadata.annotations?.[annotations.clusterUpgrade];
  await world.reconcile();
  expect(await told()).toBeUndefined();
  await world.tenantIsReady();
  const { status } = await world.reconcile();
  expect([status?.version, await told()]).toEqual(['v1.36.3', undefined]);
  await world.server.admin.patch(
    stewardControlPlane,
    key,
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
  await world.server.admin.patch(capiCluster, key, {
    type: 'merge',
    body: { spec: { topology: { version: 'v1.36.4' } } },
  });
  const { afterMs } = await world.reconcile();
  // What it reports itself does not enqueue it.
  expect([await told(), afterMs]).toEqual(['v1.36.4', 30_000]);
  await world.server.admin.patch(capiCluster, key, {
    type: 'merge',
    body: { spec: { topology: { version: 'v1.36.3' } } },
  });
  await world.reconcile();
  expect(await told()).toBeUndefined();
});

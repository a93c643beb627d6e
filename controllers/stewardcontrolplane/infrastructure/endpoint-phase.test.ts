import { beforeEach, describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { ControlPlaneWorld, conditionOf, infraKind, key } from '../../../testing/worlds/control-plane-world.ts';
import type { InfrastructureCluster } from './infrastructure-patch.ts';

describe('The endpoint of a StewardControlPlane', () => {
  let world: ControlPlaneWorld;

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
  });

  test('The endpoint is patched into its own spec and into an infrastructure cluster of any kind', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    const endpoint = { host: '172.30.0.10', port: 31443 };
    expect((await world.server.admin.get(stewardControlPlane, key))?.spec.controlPlaneEndpoint).toEqual(endpoint);
    expect((await world.server.admin.get<InfrastructureCluster>(infraKind, key))?.spec?.controlPlaneEndpoint).toEqual(
      endpoint,
    );
  });

  test('The infrastructure cluster gets the endpoint when it answers, not before, because Cluster API connects at once', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.tenantSays({
      kubernetesResources: { version: { status: 'Provisioning' }, deployment: { readyReplicas: 0 } },
    });
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'InfrastructureClusterPatched')).toMatchObject({
      status: 'False',
      reason: 'WaitingForControlPlane',
    });
    expect(conditionOf(status, 'Ready')?.message).toContain('the TenantControlPlane is Provisioning');
    expect(
      (await world.server.admin.get<InfrastructureCluster>(infraKind, key))?.spec?.controlPlaneEndpoint,
    ).toBeUndefined();
    expect((await world.server.admin.get(stewardControlPlane, key))?.spec.controlPlaneEndpoint?.port).toBe(31443);
  });

  test('An infrastructure cluster with another endpoint is not changed and is named', async () => {
    await world.seedCluster();
    await world.server.admin.patch(infraKind, key, {
      type: 'merge',
      body: { spec: { controlPlaneEndpoint: { host: 'other', port: 1 } } },
    });
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    const { status } = await world.reconcile();
    expect(conditionOf(status, 'InfrastructureClusterPatched')).toMatchObject({
      status: 'False',
      reason: 'EndpointMismatch',
    });
    expect(conditionOf(status, 'InfrastructureClusterPatched')?.message).toMatch(/other:1.*172\.30\.0\.10:31443/);
    expect(
      (await world.server.admin.get<InfrastructureCluster>(infraKind, key))?.spec?.controlPlaneEndpoint?.host,
    ).toBe('other');
  });

  test('The address that the Cluster already has stays, also once it is published', async () => {
    await world.seedCluster({ controlPlaneEndpoint: { host: '172.30.0.10', port: 6443 } });
    await world.seed();
    const addressOf = async () => (await world.server.admin.get(tenantControlPlane, key))?.spec.networkProfile.address;
    await world.reconcile();
    expect(await addressOf()).toBe('172.30.0.10');
    await world.tenantIsReady();
    await world.reconcile();
    expect((await world.server.admin.get(stewardControlPlane, key))?.spec.controlPlaneEndpoint?.host).toBe(
      '172.30.0.10',
    );
    await world.reconcile();
    expect(await addressOf()).toBe('172.30.0.10');
  });

  test('An endpoint that Steward wrote to the Cluster pins no address', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    const body = { spec: { controlPlaneEndpoint: { host: '172.30.0.10', port: 31443 } } };
    await world.server.admin.patch(capiCluster, key, { type: 'merge', body });
    await world.reconcile();
    const tenant = await world.server.admin.get(tenantControlPlane, key);
    expect(tenant?.spec.networkProfile.address).toBeUndefined();
  });
});

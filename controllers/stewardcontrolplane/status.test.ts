import { beforeEach, describe, expect, test } from '@jest/globals';
import { isReasonOf, conditionTable } from '../../api/conditions.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { ControlPlaneWorld, conditionNow, conditionOf, key } from '../../testing/worlds/control-plane-world.ts';

describe('The status of a StewardControlPlane', () => {
  let world: ControlPlaneWorld;

  beforeEach(async () => {
    world = await ControlPlaneWorld.create();
  });

  test('The Secrets exist before it is reported as initialized', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    const before = world.server.calls.length;
    const { status } = await world.reconcile();
    expect(status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      initialized: true,
      ready: true,
      version: 'v1.36.3',
      versions: [{ version: 'v1.36.3', replicas: 2 }],
      selector: 'a=b',
      unavailableReplicas: 0,
    });
    const kubeconfig = await world.server.admin.get(kinds.Secret, {
      namespace: 'default',
      name: 'my-cluster-kubeconfig',
    });
    expect(kubeconfig).toMatchObject({ type: 'cluster.x-k8s.io/secret', data: { value: 'a3ViZQ==' } });
    expect(kubeconfig?.metadata.labels?.[clusterNameLabel]).toBe('my-cluster');
    const ca = await world.server.admin.get(kinds.Secret, { namespace: 'default', name: 'my-cluster-ca' });
    expect(ca?.metadata.labels?.[clusterNameLabel]).toBe('my-cluster');
    expect(ca?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['TenantControlPlane']);
    expect(world.server.calls.slice(before).length).toBeLessThan(15);
  });

  test('Both versions are reported during an upgrade, the installed one first', async () => {
    await world.seedCluster();
    await world.seed({}, { version: 'v1.36.3' });
    await world.reconcile();
    await world.tenantIsReady();
    await world.tenantSays({
      kubernetesResources: {
        version: { version: 'v1.35.4', status: 'Upgrading' },
        deployment: { replicas: 3, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 1 },
      },
    });
    const { status } = await world.reconcile();
    expect(status?.version).toBe('v1.35.4');
    expect(status?.versions).toEqual([
      { version: 'v1.35.4', replicas: 2 },
      { version: 'v1.36.3', replicas: 1 },
    ]);
    expect(conditionOf(status, 'RollingOut')).toMatchObject({ status: 'True' });
  });

  test.each([
    ['within the bounds', 4, { up: 'False', down: 'False', unavailable: 0 }],
    ['below the bounds', 1, { up: 'True', down: 'False', unavailable: 1 }],
    ['above the bounds', 6, { up: 'False', down: 'True', unavailable: 0 }],
  ])(
    'Autoscaled pods are wanted as the autoscaler has them, %s: %d',
    async (_where, replicas, { up, down, unavailable }) => {
      const autoscaling = { minReplicas: 2, maxReplicas: 5, targetInFlightRequests: 100 };
      await world.seedCluster();
      await world.seed({}, { version: 'v1.36.3', replicas: 3, deployment: { autoscaling } });
      await world.reconcile();
      await world.tenantIsReady();
      const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas };
      await world.tenantSays({
        kubernetesResources: { version: { version: 'v1.36.3', status: 'Ready' }, deployment: counts },
      });
      const { status } = await world.reconcile();
      expect(conditionOf(status, 'ScalingUp')).toMatchObject({ status: up });
      expect(conditionOf(status, 'ScalingDown')).toMatchObject({ status: down });
      expect(status).toMatchObject({ replicas, unavailableReplicas: unavailable });
    },
  );

  test('A control plane that its schedules have put to sleep is asleep and not broken, and wants no pods', async () => {
    await world.seedCluster();
    await world.seed({}, { version: 'v1.36.3', replicas: 2 });
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    const none = { replicas: 0, readyReplicas: 0, availableReplicas: 0, updatedReplicas: 0 };
    await world.tenantSays({
      sleep: { state: 'Asleep', since: '2030-01-01T20:00:00Z', reason: 'Schedule' },
      kubernetesResources: { version: { version: 'v1.36.3', status: 'Sleeping' }, deployment: none },
      conditions: [{ ...conditionNow('Asleep', 'True'), reason: 'Scheduled' }],
    });
    const { status } = await world.reconcile();
    const told = (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
    expect(told).toEqual(
      expect.arrayContaining([
        'Available=False Sleeping',
        'Ready=False Sleeping',
        'Asleep=True Scheduled',
        'Initialized=True Initialized',
        'ScalingUp=False NotScalingUp',
        'ScalingDown=False NotScalingDown',
        'RollingOut=False NotRollingOut',
        'Remediating=False NotRemediating',
      ]),
    );
    expect(status).toMatchObject({ replicas: 0, unavailableReplicas: 0, initialized: true, ready: false });
    expect(status?.version).toBe('v1.36.3');
  });

  test('Every condition of the contract and every count is reported before there is a Cluster', async () => {
    await world.seed({ ownerReferences: [] });
    const { status } = await world.reconcile();
    const told = Object.fromEntries((status?.conditions ?? []).map(({ type, status: is }) => [type, is]));
    expect(told).toMatchObject({
      Available: 'False',
      Initialized: 'False',
      CertificatesAvailable: 'False',
      RollingOut: 'False',
      ScalingUp: 'Unknown',
      ScalingDown: 'Unknown',
      Deleting: 'False',
      Paused: 'False',
      Remediating: 'False',
      Ready: 'False',
    });
    expect(status).toMatchObject({
      externalManagedControlPlane: true,
      initialized: false,
      ready: false,
      replicas: 0,
      readyReplicas: 0,
      availableReplicas: 0,
      upToDateReplicas: 0,
      updatedReplicas: 0,
      unavailableReplicas: 2,
    });
    expect(status?.observedGeneration).toBeDefined();
    expect(status?.version).toBeUndefined();
  });

  test('Nothing is reported as changed while its TenantControlPlane cannot be read', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    const stop = world.server.before(({ verb, kind }) => {
      if (verb === 'get' && kind?.kind === 'TenantControlPlane')
        throw new ApiError(500, 'InternalError', 'etcd is away');
    });
    const { status, error } = await world.reconcile();
    stop();
    expect(error).toBeInstanceOf(ApiError);
    expect(status).toMatchObject({ ready: true, replicas: 2, version: 'v1.36.3' });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'Unknown', reason: 'InternalError' });
    expect(conditionOf(status, 'Available')?.message).toContain('etcd is away');
    expect(conditionOf(status, 'Initialized')).toMatchObject({ status: 'True' });
  });

  test('A held upgrade is reported as a rollout that waits, with no replica up to date', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    await world.reconcile();
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body: { spec: { version: 'v1.37.0' } } });
    await world.reconcile();
    const held = { ...conditionNow('UpgradeAllowed', 'False'), message: 'v1.37.0 is held back: 1 node is too old' };
    await world.tenantSays({
      conditions: [conditionNow('TenantConfigured', 'True'), conditionNow('AddonsReady', 'True'), held],
    });
    const { status } = await world.reconcile();
    expect(status).toMatchObject({ upToDateReplicas: 0, updatedReplicas: 0, replicas: 2, ready: true });
    expect(status).toMatchObject({ version: 'v1.36.3', versions: [{ version: 'v1.36.3', replicas: 2 }] });
    expect(conditionOf(status, 'RollingOut')).toMatchObject({ status: 'True', message: held.message });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'True' });
  });

  test('Every condition and reason that it reports is in the table', async () => {
    await world.seedCluster();
    await world.seed();
    await world.reconcile();
    await world.tenantIsReady();
    const { status } = await world.reconcile();
    for (const { type, reason } of status?.conditions ?? []) {
      const row = type as keyof (typeof conditionTable)['StewardControlPlane'];
      expect([type, reason, isReasonOf('StewardControlPlane', row, reason)]).toEqual([type, reason, true]);
    }
  });
});

import { describe, expect, jest, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations } from '../../../../api/names.ts';
import type { MigrationPhase } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { MigrationWorld, storeLabel } from '../../../../testing/worlds/migration-world.ts';

// Each of some thirty reconciles sends everything again.
jest.setTimeout(120_000);

const old: TenantControlPlaneChanges = { kubernetes: { version: 'v1.29.15' } };
const namespace = 'default';

async function moving(changes: TenantControlPlaneChanges = old): Promise<MigrationWorld> {
  const world = new MigrationWorld();
  await world.running(changes);
  await world.moveTo('other');
  return world;
}

async function replicas(world: MigrationWorld): Promise<number | undefined> {
  return (await world.deployment())?.spec?.replicas;
}

async function message(world: MigrationWorld, type = 'Migrating'): Promise<string> {
  const conditions = (await world.read()).status?.conditions ?? [];
  return conditions.find((condition) => condition.type === type)?.message ?? '';
}

/** The DataStores of the pods that do not end. */
async function stores(world: MigrationWorld): Promise<readonly (string | undefined)[]> {
  const staying = (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.map(({ metadata }) => metadata.labels?.[storeLabel]);
}

/** What is seen in each phase that a migration goes through, until it has ended. */
async function watched(world: MigrationWorld): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    await world.reconcile();
    const { phase, finishedAt } = await world.record();
    const line = `${phase}: ${(await world.state()) ?? ''}, ${(await stores(world)).join() || 'no pods'}, reaches ${(await world.reached()).join() || 'none'}`;
    if (seen.at(-1) !== line) seen.push(line);
    if (finishedAt !== undefined) return seen;
    await world.work();
    await world.clock.advance(200);
  }
  throw new Error(`the migration does not end: ${seen.join('\n')}`);
}

describe('A tenant whose API servers cannot deny writes, and whose DataStore is changed', () => {
  test('is migrated: its API servers are stopped for the end, and no client reaches those on the target before it is final', async () => {
    const world = await moving();
    const seen = await watched(world);
    expect(seen).toEqual([
      'Preparing: Ready, default,default, reaches default',
      'Copying: Ready, default,default, reaches default',
      'Following: Ready, default,default, reaches default',
      'StoppingWrites: Migrating, default,default, reaches default',
      'StoppingWrites: Migrating, no pods, reaches none',
      'Finishing: Migrating, no pods, reaches none',
      'Switching: Migrating, no pods, reaches none',
      'Switching: Migrating, other,other, reaches none',
      'ResumingWrites: Migrating, other,other, reaches none',
      'Revoking: Ready, other,other, reaches other',
      'Succeeded: Ready, other,other, reaches other',
    ]);
    expect((await world.read()).status?.storage).toMatchObject({ dataStoreName: 'other', driver: 'PostgreSQL' });
    expect(await world.condition('Ready')).toBe('True');
    expect(await world.job()).toBeUndefined();
    const record = await world.record();
    expect(Object.keys(record)).not.toEqual(expect.arrayContaining(['stoppedAt']));
    expect(record).toMatchObject({ stopsServers: true });
    expect(await world.tenant.admin.get(kinds.ValidatingAdmissionPolicy, { name: 'steward-freeze' })).toBeUndefined();
  });

  test('reports in conditions and Events that they are stopped, and for how long they were', async () => {
    const world = await moving();
    await world.until('StoppingWrites');
    await world.clock.advance(12_000);
    expect(await message(world)).toContain('the API servers are being stopped');
    await world.reconcile();
    expect(await world.condition('Ready')).toBe(
      'False Migrating: the API servers are stopped for a moment: the condition Migrating says why',
    );
    expect(await world.condition('ControlPlaneAvailable')).toContain('False StoppedForMigration: the API servers are');
    expect(await world.condition('TenantConfigured')).toContain(
      'Unknown Blocked: waiting for ControlPlaneAvailable: the API servers are stopped while the data is migrated',
    );
    expect((await world.migrate()).pauseMs).toBeGreaterThanOrEqual(12_000);
    expect(await message(world)).toMatch(/^the API servers were stopped for 1[23]\.\d s, 0\.\d s of it for the start/);
    const events = world.events.join('\n');
    expect(events).toContain(
      'MigrationProgress: StoppingWrites: from DataStore default to other; the API servers are being',
    );
    expect(events).toMatch(/MigrationSucceeded: .*: the API servers were stopped for 1[23]\.\d s/);
    expect(events.slice(events.indexOf('MigrationStarted'))).not.toMatch(/StoppedForMigration|PodsNotReady/);
  });

  test('reports to the process only when no pod is left', async () => {
    const world = await moving();
    world.podsStop = false;
    await world.until('StoppingWrites');
    for (let reconciles = 0; reconciles < 4; reconciles += 1) expect((await world.reconcile()).error).toBeUndefined();
    expect([await replicas(world), (await world.pods()).length]).toEqual([0, 2]);
    expect(await world.told(annotations.migrationFreezeInForce)).toBeUndefined();
    expect(await message(world)).toContain('pods are stopping: tenant-1, tenant-2');
    await world.finishPods();
    await world.reconcile();
    expect(await world.told(annotations.migrationFreezeInForce)).toBe('first');
    expect((await world.record()).phase).toBe('Finishing');
  });

  test('reports to the process only when the controller of the Deployment has seen that no pod is wanted', async () => {
    const world = await moving();
    await world.until('StoppingWrites');
    world.podsStart = false;
    await world.reconcile();
    await world.reconcile();
    expect([await replicas(world), await world.pods()]).toEqual([0, []]);
    expect(await world.told(annotations.migrationFreezeInForce)).toBeUndefined();
    expect(await message(world)).toContain('the Deployment is being scaled to 0');
    await world.startPods();
    await world.reconcile();
    expect(await world.told(annotations.migrationFreezeInForce)).toBe('first');
  });

  test('gets no pods from a new manager while they are stopped', async () => {
    const world = await moving();
    await world.until('Finishing');
    world.restart();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 3 } } } });
    await world.reconcile();
    expect([await replicas(world), await world.pods()]).toEqual([0, []]);
    expect((await world.migrate()).phase).toBe('Succeeded');
    expect(await replicas(world)).toBe(3);
  });

  test('runs again while the process postpones its last part, and counts the whole time until it serves', async () => {
    const world = await moving();
    await world.until('Finishing');
    world.podsStart = false;
    await world.say({ journal: { phase: 'Following' }, wish: null });
    await world.reconcile();
    await world.reconcile();
    expect([(await world.record()).phase, await replicas(world), await world.state()]).toEqual([
      'Following',
      2,
      'Migrating',
    ]);
    expect(await message(world)).toContain('the API servers are starting again');
    expect(await world.told(annotations.migrationFreezeInForce)).toBeUndefined();
    await world.clock.advance(5_000);
    world.podsStart = true;
    await world.startPods();
    await world.cluster.admin.delete(kinds.Deployment, { namespace, name: 'tenant' });
    await world.reconcile();
    await world.reconcile();
    expect(await world.state()).toBe('Ready');
    expect(await world.reached()).toEqual(['default']);
    const { pauseMs = 0, stoppedAt } = await world.record();
    expect(stoppedAt).toBeUndefined();
    expect(pauseMs).toBeGreaterThanOrEqual(5_000);
    const end = await world.migrate();
    expect(end.phase).toBe('Succeeded');
    expect(end.pauseMs).toBeGreaterThan(pauseMs);
  });

  test('is Migrating for as long as was requested, from the moment at which the API servers are stopped', async () => {
    const world = await moving();
    await world.change({ metadata: { annotations: { [annotations.migrationMinimumHold]: '15s' } } });
    await world.until('StoppingWrites');
    await world.clock.advance(12_000);
    await world.until('Switching');
    await world.reconcile();
    await world.reconcile();
    expect(await message(world)).toContain('Migrating is shown for the requested minimum time');
    await world.clock.advance(2_999);
    await world.reconcile();
    expect([(await world.record()).phase, await world.reached()]).toEqual(['Switching', []]);
    await world.clock.advance(1);
    await world.reconcile();
    expect((await world.record()).phase).toBe('ResumingWrites');
    expect((await world.migrate()).phase).toBe('Succeeded');
  });

  test('has as many pods on the target as its autoscaler had set before', async () => {
    const autoscaling = { minReplicas: 2, maxReplicas: 9, targetCPUUtilizationPercentage: 80 };
    const resources = { apiServer: { requests: { cpu: '100m' } } };
    const world = new MigrationWorld();
    await world.running({ ...old, deployment: { replicas: 2, autoscaling, resources } });
    await world.cluster.admin.patch(
      kinds.Deployment,
      { namespace, name: 'tenant' },
      { type: 'merge', body: { spec: { replicas: 5 } } },
      { fieldManager: 'kube-controller-manager' },
    );
    await world.startPods();
    await world.settle();
    expect(await replicas(world)).toBe(5);
    await world.moveTo('other');
    await world.until('Finishing');
    expect(await replicas(world)).toBe(0);
    expect((await world.migrate()).phase).toBe('Succeeded');
    await world.settle();
    expect([await replicas(world), await stores(world)]).toEqual([5, Array.from({ length: 5 }, () => 'other')]);
  });

  test('sleeps on while it is migrated, and is not woken in the middle', async () => {
    const world = await moving({ ...old, deployment: { replicas: 0 } });
    await world.until('Finishing');
    expect(await world.state()).toBe('Sleeping');
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await world.reconcile();
    expect(await world.pods()).toEqual([]);
    expect((await world.migrate()).phase).toBe('Succeeded');
    expect(await stores(world)).toEqual(['other', 'other']);
  });

  test('is stopped as well if a version that denies writes is wanted, but not installed yet', async () => {
    const world = new MigrationWorld();
    await world.running(old);
    await world.moveTo('other');
    await world.change({ spec: { kubernetes: { version: 'v1.30.1' } } });
    expect((await world.migrate()).stopsServers).toBe(true);
    expect((await world.record()).phase).toBe('Succeeded');
  });
});

describe('A migration with stopped API servers that does not succeed', () => {
  const asBefore = async (world: MigrationWorld): Promise<void> => {
    expect(world.store.fenced).toEqual([]);
    expect(world.target.tenancies.size).toBe(0);
    expect(await world.state()).toBe('Ready');
    expect(await world.condition('Ready')).toBe('True');
    expect((await world.read()).status?.storage).toMatchObject({ dataStoreName: 'default', driver: 'etcd' });
    expect(await stores(world)).toEqual(['default', 'default']);
    expect(await world.reached()).toEqual(['default']);
    const service = await world.cluster.admin.get(kinds.Service, { namespace, name: 'tenant' });
    expect(Object.keys(service?.spec?.selector ?? {})).toEqual(['steward.butlerlabs.dev/name']);
    expect((await world.record()).stoppedAt).toBeUndefined();
    expect(await world.job()).toBeUndefined();
  };

  test.each<MigrationPhase>(['Preparing', 'Copying', 'Following', 'StoppingWrites', 'Finishing', 'Switching'])(
    'leaves everything as it was when it is canceled in %s',
    async (phase) => {
      const world = await moving();
      await world.until(phase);
      if (phase === 'StoppingWrites') {
        world.podsStop = false;
        await world.reconcile();
        world.podsStop = true;
        await world.finishPods();
      }
      await world.moveTo('default');
      expect((await world.migrate()).phase).toBe('Cancelled');
      await world.settle();
      await asBefore(world);
    },
  );

  test('lets no client reach the pods on the target while it is rolled back after the switch', async () => {
    const world = await moving();
    await world.until('Switching');
    world.podsStop = false;
    // The pods on the target are there, but none serves.
    await world.reconcile();
    await world.moveTo('default');
    const seen = new Set<string>();
    for (let turn = 0; turn < 10; turn += 1) {
      await world.reconcile();
      await world.work();
      for (const store of await world.reached()) seen.add(store);
    }
    expect([...seen]).toEqual(['default']);
    expect((await world.record()).phase).toBe('RollingBack');
    expect(world.target.tenancies.size).toBe(1);
    world.podsStop = true;
    await world.finishPods();
    expect((await world.migrate()).phase).toBe('Cancelled');
    await world.settle();
    await asBefore(world);
  });

  test('serves from the source at once although the target does not respond, because no client has seen its revisions', async () => {
    const world = await moving();
    await world.until('Switching');
    world.target.dataOf([...world.target.tenancies.keys()].join()).revision = 1_000_000n;
    await world.reconcile();
    await world.moveTo('default');
    world.target.failure = new StoreError('Unreachable', 'other:1: no answer');
    for (let turn = 0; turn < 4; turn += 1) await world.reconcile();
    expect([world.store.fenced, await world.reached()]).toEqual([[], ['default']]);
    world.target.failure = undefined;
    expect((await world.migrate()).phase).toBe('Cancelled');
    expect(world.store.dataOf([...world.store.tenancies.keys()].join()).revision).toBeLessThan(1_000_000n);
    await world.settle();
    await asBefore(world);
  });

  test('cancels the process before it waits for the pods, which the process could fence', async () => {
    const world = await moving();
    await world.until('Finishing');
    world.podsStart = false;
    await world.moveTo('default');
    await world.reconcile();
    await world.reconcile();
    expect(await world.told(annotations.migrationCancel)).toBe('DataStore other is no longer requested');
    expect((await world.record()).phase).toBe('RollingBack');
  });

  test('returns to the source if a pod was started there by hand in the meantime and does not stop', async () => {
    const world = await moving();
    await world.until('Switching');
    world.podsStop = false;
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'tenant-by-hand',
        namespace,
        labels: { 'steward.butlerlabs.dev/name': 'tenant', [storeLabel]: 'default' },
        finalizers: ['test/kubelet'],
      },
    });
    for (let turn = 0; turn < 3; turn += 1) await world.reconcile();
    expect(await message(world)).toContain('pods on the old DataStore are stopping: tenant-by-hand');
    await world.clock.advance(181_000);
    await world.reconcile();
    expect((await world.record()).phase).toBe('RollingBack');
    world.podsStop = true;
    await world.finishPods();
    expect((await world.migrate()).message).toBe('pods on the old DataStore did not stop in time: tenant-by-hand');
    await world.settle();
    await asBefore(world);
  });

  test('returns to the source if the pods do not become ready on the target', async () => {
    const world = await moving();
    await world.until('Switching');
    world.podsStart = false;
    await world.reconcile();
    await world.reportPods({ replicas: 2, updatedReplicas: 2, readyReplicas: 0, unavailableReplicas: 2 });
    await world.reconcile();
    expect(await message(world)).toContain('pods on the target are starting');
    await world.clock.advance(200_000);
    await world.reconcile();
    world.podsStart = true;
    expect((await world.migrate()).phase).toBe('Failed');
    await world.settle();
    await asBefore(world);
    expect(await world.condition('Migrating')).toContain('the pods did not become ready on DataStore other in time');
    expect(world.events.join('\n')).toMatch(/MigrationFailed: .*; the API servers were stopped for 2\d\d\.\d s/);
  });

  test('returns to the source if a pod does not stop, without waiting for it any longer', async () => {
    const world = await moving();
    const [lost] = await world.pods();
    const name = lost?.metadata.name ?? '';
    await world.cluster.admin.patch(
      kinds.Pod,
      { namespace, name },
      { type: 'merge', body: { spec: { nodeName: 'lost-node' } } },
    );
    world.podsStop = false;
    await world.until('StoppingWrites');
    await world.reconcile();
    await world.clock.advance(119_000);
    await world.reconcile();
    expect((await world.record()).phase).toBe('StoppingWrites');
    await world.clock.advance(2_000);
    expect((await world.migrate()).phase).toBe('Failed');
    expect(await message(world)).toContain(
      `not every API server stopped in time: pods are stopping: ${name} on node lost-node, tenant-2`,
    );
    expect((await world.pods()).map(({ metadata }) => metadata.name)).toContain(name);
    await world.settle();
    await asBefore(world);
  });

  test('is not begun while a pod is left that should have ended long ago', async () => {
    const world = await moving();
    world.podsStop = false;
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'tenant-lost',
        namespace,
        labels: { 'steward.butlerlabs.dev/name': 'tenant' },
        finalizers: ['test/kubelet'],
      },
      spec: { nodeName: 'lost-node', containers: [] },
    });
    await world.cluster.admin.delete(kinds.Pod, { namespace, name: 'tenant-lost' }, { gracePeriodSeconds: 30 });
    await world.until('Following');
    await world.clock.advance(61_000);
    for (let turn = 0; turn < 4; turn += 1) {
      await world.reconcile();
      await world.work();
    }
    expect([(await world.record()).phase, await replicas(world), await world.state()]).toEqual([
      'Following',
      2,
      'Ready',
    ]);
    expect(await message(world)).toContain(
      'gone, which should have terminated long ago: tenant-lost on node lost-node',
    );
    world.podsStop = true;
    await world.finishPods();
    expect((await world.migrate()).phase).toBe('Succeeded');
  });

  test.each<MigrationPhase>(['Finishing', 'Switching'])(
    'ends although the pods do not become ready on the source again: canceled in %s',
    async (phase) => {
      const world = await moving();
      await world.until(phase);
      world.podsStart = false;
      const job = (await world.job())?.metadata.name ?? '';
      const pod = { namespace: 'steward-system', name: 'migrate-x' };
      const metadata = { ...pod, labels: { 'job-name': job } };
      await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata });
      await world.moveTo('default');
      await world.reconcile();
      await world.reconcile();
      await world.clock.advance(181_000);
      // The end of the Job's pod takes longer than one reconcile.
      await world.reconcile();
      await world.reconcile();
      await world.cluster.admin.delete(kinds.Pod, pod);
      expect((await world.migrate()).phase).toBe('Cancelled');
      expect([await replicas(world), world.store.fenced, await world.job()]).toEqual([2, [], undefined]);
    },
  );
});

import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { HorizontalPodAutoscaler } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { listedInformers } from '../../../testing/fake/listed-informers.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const autoscaling = { minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 80 };
const { controlPlane } = tenantControlPlaneWith({ deployment: { autoscaling } }).spec;

async function running(options: ConstructorParameters<typeof TenantWorld>[0] = {}): Promise<TenantWorld> {
  const world = new TenantWorld(options);
  await world.create({ spec: { dataStore: 'default', controlPlane } });
  await world.settle();
  return world;
}

const found = (world: TenantWorld): Promise<HorizontalPodAutoscaler | undefined> =>
  world.cluster.admin.get(kinds.HorizontalPodAutoscaler, key);
const replicasOf = async (world: TenantWorld): Promise<number | undefined> =>
  (await world.deployment())?.spec?.replicas;
const change = (world: TenantWorld, deployment: object): Promise<void> =>
  world.change({ spec: { controlPlane: { deployment } } });

/** Sets the replicas of the Deployment as an autoscaler does. */
async function scale(world: TenantWorld, replicas: number): Promise<void> {
  await world.cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body: { spec: { replicas } } });
  await world.startPods();
}

/** Objects of others are read once a minute. */
async function later(world: TenantWorld): Promise<void> {
  await world.clock.advance(61_000);
  await world.settle();
}

async function addAutoscaler(world: TenantWorld, name: string, target = 'tenant'): Promise<void> {
  await world.cluster.admin.create(kinds.HorizontalPodAutoscaler, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace: 'default', name },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target }, maxReplicas: 9 },
  });
}

describe('An autoscaled control plane', () => {
  test('has a HorizontalPodAutoscaler of its own, and starts with the replicas of the spec', async () => {
    const world = await running();
    const made = await found(world);
    expect(made?.metadata.ownerReferences?.[0]?.name).toBe('tenant');
    expect(made?.spec).toMatchObject({ minReplicas: 1, maxReplicas: 5 });
    expect(await replicasOf(world)).toBe(2);
    expect([await world.condition('Autoscaled'), await world.condition('Ready')]).toEqual(['True', 'True']);
  });

  test('keeps the replicas that the autoscaler sets, even if its pods change', async () => {
    const world = await running();
    await scale(world, 4);
    await world.settle();
    expect(await replicasOf(world)).toBe(4);
    await change(world, { podAdditionalMetadata: { labels: { team: 'a' } } });
    await world.settle();
    expect(await replicasOf(world)).toBe(4);
    world.restart();
    await scale(world, 1);
    await world.settle();
    expect(await replicasOf(world)).toBe(1);
    expect((await world.deployment())?.spec?.template.metadata?.labels?.team).toBe('a');
  });

  test('is Ready without a rollout when all pods that the autoscaler wants are', async () => {
    const world = await running();
    await scale(world, 4);
    await world.settle();
    const conditions = (await world.read()).status?.conditions ?? [];
    expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
  });

  test('sleeps without an autoscaler, and wakes up with the replicas of the spec', async () => {
    const world = await running();
    await scale(world, 4);
    await change(world, { replicas: 0 });
    await world.settle();
    expect([await replicasOf(world), await found(world)]).toEqual([0, undefined]);
    expect(await world.condition('Autoscaled')).toBe('False Sleeping: spec.controlPlane.deployment.replicas is 0');
    await change(world, { replicas: 3 });
    await world.settle();
    expect(await replicasOf(world)).toBe(3);
    expect(await found(world)).toBeDefined();
  });

  test('has the replicas of the spec again when it is no longer scaled', async () => {
    const world = await running();
    await scale(world, 4);
    await change(world, { autoscaling: null });
    await world.settle();
    expect([await replicasOf(world), await found(world)]).toEqual([2, undefined]);
    expect(await world.condition('Autoscaled')).toContain('False NotRequested');
  });

  test('keeps its present replicas when it begins to be scaled', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    expect(await world.condition('Autoscaled')).toBe('absent');
    await change(world, { autoscaling: { ...autoscaling, minReplicas: 3 } });
    await world.settle();
    expect(await replicasOf(world)).toBe(2);
  });

  test('may be evicted pod by pod, whatever their number is at the moment', async () => {
    const world = await running();
    await scale(world, 1);
    await world.settle();
    expect(await world.cluster.admin.get(kinds.PodDisruptionBudget, key)).toBeDefined();
  });
});

describe('A HorizontalPodAutoscaler that Steward did not create', () => {
  test('is used in place of that of Steward until it is gone', async () => {
    const world = await running();
    await addAutoscaler(world, 'theirs');
    await later(world);
    expect(await found(world)).toBeUndefined();
    expect(await world.condition('Autoscaled')).toContain(
      'False OtherAutoscaler: HorizontalPodAutoscaler theirs already scales the Deployment',
    );
    expect(await world.condition('Ready')).toBe('True');
    await scale(world, 4);
    await later(world);
    expect(await replicasOf(world)).toBe(4);
    await world.cluster.admin.delete(kinds.HorizontalPodAutoscaler, { namespace: 'default', name: 'theirs' });
    await later(world);
    expect(await found(world)).toBeDefined();
    expect(await world.condition('Autoscaled')).toBe('True');
  });

  test('is not changed if it has the name of that of Steward and scales something else', async () => {
    const world = new TenantWorld();
    await addAutoscaler(world, 'tenant', 'other');
    await world.create({ spec: { dataStore: 'default', controlPlane } });
    await world.settle();
    expect((await found(world))?.spec.maxReplicas).toBe(9);
    expect(await world.condition('Autoscaled')).toContain(
      'HorizontalPodAutoscaler default/tenant was created by someone else and is left alone',
    );
    expect(await world.condition('Ready')).toBe('True');
  });
});

test('what keeps the autoscaler from computing a number is reported', async () => {
  const seen: Resource[] = [];
  const world = await running({ informers: () => listedInformers({ HorizontalPodAutoscaler: () => seen }) });
  const report = async (reason: string): Promise<void> => {
    const made = await found(world);
    if (made === undefined) throw new Error('there is no autoscaler');
    const conditions = [{ type: 'ScalingActive', status: 'False', reason, message: 'no metrics returned' }];
    seen.splice(0, 1, { ...made, status: { conditions } } as Resource);
    await world.settle();
  };
  await report('FailedGetContainerResourceMetric');
  expect(await world.condition('Autoscaled')).toBe('False MetricsUnavailable: no metrics returned');
  await report('ScalingDisabled');
  expect(await world.condition('Autoscaled')).toBe('True');
});

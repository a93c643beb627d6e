import { describe, expect, test } from '@jest/globals';
import type { AddonStage } from '../../sources/cluster-addon-config.ts';
import type { TestRelease } from '../../../testing/worlds/addon-world.ts';
import { AddonWorld, chartObject } from '../../../testing/worlds/addon-world.ts';
import { CrashError } from '../../../testing/fake/fake-faults.ts';
import { crashPoints } from '../../../testing/worlds/crash-points.ts';

const apply = (name: string): AddonStage => ({ name, action: 'apply' });

let generation = 0;
const release = (version: string, names: readonly string[]): TestRelease => ({
  kubernetes: 'v1.35.6',
  addonVersion: version,
  stages: {
    AfterControlPlaneInitialized: [apply('cni'), apply('rest')],
    BeforeClusterUpgrade: [apply('cni'), { name: 'old', action: 'delete' }, apply('rest')],
  },
  charts: {
    cni: () => {
      generation += 1;
      const data = { generation: String(generation) };
      return [
        chartObject('Secret', 'ca', { data }),
        chartObject('Secret', 'server', { data }),
        chartObject('ConfigMap', 'cni', { data: { version } }),
      ];
    },
    old: () => [chartObject('ConfigMap', 'to-be-deleted')],
    rest: () => names.map((name) => chartObject('ConfigMap', name, { data: { version } })),
  },
});

/** A Cluster with add-ons, and how the next thing is begun. */
async function installing(): Promise<AddonWorld> {
  const world = new AddonWorld();
  await world.release('v1', release('v1', ['kept', 'dropped', 'to-be-deleted']));
  await world.create();
  return world;
}

async function upgrading(): Promise<AddonWorld> {
  const world = await installing();
  await world.settle();
  await world.release('v2', release('v2', ['kept', 'added']));
  await world.setCluster({ release: 'v2' });
  return world;
}

/** What has to be the same, however often a process died on the way. */
async function shapeOf(world: AddonWorld): Promise<unknown> {
  const addon = await world.addon();
  const { inventory = [], stages, ready, lastRelease, completedHooks, resources } = addon?.status ?? {};
  const items = inventory.map(({ kind, namespace, name, stage }) => `${kind} ${namespace}/${name} of ${stage}`).sort();
  const names = ['ca', 'server'];
  const generations = await Promise.all(names.map((name) => world.dataOf('Secret', name)));
  return {
    objects: await world.objects(),
    items,
    status: { stages, ready, lastRelease, completedHooks, resources },
    spec: { ...addon?.spec, clusterRef: addon?.spec.clusterRef.name },
    annotations: addon?.metadata.annotations,
    fitsTogether: new Set(generations.map((data) => JSON.stringify(data))).size === 1,
  };
}

async function untilDeath(world: AddonWorld): Promise<void> {
  for (let reconciles = 0; reconciles < 30; reconciles += 1) {
    const { error } = await world.reconcile();
    if (error instanceof CrashError || world.management.crashed || world.workload.crashed) return;
  }
}

describe.each([
  ['an installation', installing],
  ['an upgrade', upgrading],
])('A manager that dies during %s', (_, begin) => {
  test.each(['management', 'workload'] as const)(
    'after any call to the %s cluster leads to the same objects',
    async (client) => {
      const model = await begin();
      const before = model[client].calls.length;
      await model.settle();
      const total = model[client].calls.length - before;
      const expected = await shapeOf(model);
      await model.close();
      expect(total).toBeGreaterThan(10);
      expect(expected).toMatchObject({ fitsTogether: true, status: { ready: true } });
      for (const calls of crashPoints(total, 'stages of an add-on')) {
        const world = await begin();
        // The last call takes effect but its answer never arrives.
        world[client].crashAfter(calls, { losesAnswer: true });
        await untilDeath(world);
        world.restart();
        await world.settle();
        expect({ calls, shape: await shapeOf(world) }).toEqual({ calls, shape: expected });
        await world.close();
      }
    },
    300_000,
  );
});

test('What was applied before a manager died is removed when the upgrade is reverted', async () => {
  const model = await upgrading();
  const before = model.workload.calls.length;
  await model.settle();
  const total = model.workload.calls.length - before;
  await model.close();
  const untouched = await installing();
  await untouched.settle();
  const expected = await untouched.objects();
  await untouched.close();
  for (const calls of crashPoints(total, 'removal of an add-on')) {
    const world = await upgrading();
    world.workload.crashAfter(calls, { losesAnswer: true });
    await untilDeath(world);
    world.restart();
    await world.setCluster({ release: 'v1' });
    await world.settle();
    expect({ calls, objects: await world.objects() }).toEqual({ calls, objects: expected });
    await world.close();
  }
}, 300_000);

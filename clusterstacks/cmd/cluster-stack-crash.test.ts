import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { StackLayer } from '../../testing/worlds/stacks/stack-layer.ts';
import { clusterStackControllers } from './cluster-stack-controllers.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

const layer = (): StackLayer =>
  new StackLayer((parts) =>
    clusterStackControllers({
      memory: new ObjectMemory(),
      ...parts,
      source: {},
      watchFilter: '',
      furtherKinds: new Set<string>(),
      enqueue: () => undefined,
    }),
  );

/** A stack whose first release is there already, or is about to be made. */
async function following(): Promise<StackLayer> {
  const world = layer();
  world.push('v1');
  await world.follow();
  return world;
}

/** A newer release was pushed, and the stack is about to see it. */
async function outdated(): Promise<StackLayer> {
  const world = await following();
  await world.settle();
  world.push('v2');
  world.restart();
  return world;
}

/** The stack was deleted, and its release is about to go. */
async function leaving(): Promise<StackLayer> {
  const world = await following();
  await world.settle();
  await world.unfollow();
  return world;
}

describe.each([
  { what: 'a first release is made', begin: following, names: ['scs', 'docker-scs-1-30-v1', 'cluster-v1'], gone: [] },
  {
    what: 'a newer release takes the place of the first one',
    begin: outdated,
    names: ['scs', 'docker-scs-1-30-v2', 'cluster-v2', 'worker-v2'],
    gone: ['docker-scs-1-30-v1', 'cluster-v1', 'worker-v1'],
  },
  {
    what: 'a stack goes with its release',
    begin: leaving,
    names: [],
    gone: ['scs', 'docker-scs-1-30-v1', 'cluster-v1'],
  },
])('A manager that dies while $what', ({ begin, names, gone }) => {
  test('after any call leads to the same ClusterStack, releases, classes and templates', async () => {
    const model = await begin();
    const before = model.cluster.calls.length;
    await model.settle();
    const total = model.cluster.calls.length - before;
    const expected = await model.shape();
    const found = expected.map(({ name }) => name);
    const releases = expected.filter(({ kind }) => kind === 'ClusterStackRelease');
    expect(releases.map(({ status }) => status?.ready)).toEqual(releases.map(() => true));
    expect(found).toEqual(expect.arrayContaining(names));
    expect(found.filter((name) => gone.includes(name ?? ''))).toEqual([]);
    expect(total).toBeGreaterThan(5);
    for (const calls of crashPoints(total, 'cluster stack')) {
      const world = await begin();
      // The last call takes effect but its answer never arrives.
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await world.settle();
      expect(world.cluster.crashed).toBe(true);
      world.restart();
      await world.settle();
      expect({ calls, shape: await world.shape() }).toEqual({ calls, shape: expected });
    }
  }, 300_000);
});

import { describe, expect, test } from '@jest/globals';
import { MemoryTenancy } from '../../testing/fake/memory-tenancy.ts';
import { put } from '../../testing/builders/put.ts';
import { MovingTenancy } from '../../testing/worlds/moving-tenancy.ts';
import { bumpRevision } from './bump-revision.ts';

function setUp(targetRevision = 5000n) {
  const [source, target] = [new MemoryTenancy(), new MemoryTenancy()];
  target.revision = targetRevision;
  let raises = 0;
  source.before = (call) => {
    if (call === 'raise') raises += 1;
  };
  return { source, target, raises: () => raises };
}

describe('bumpRevision', () => {
  test('raises the source above everything that the target’s clients saw', async () => {
    const world = new MovingTenancy();
    world.expectDone(await world.run());
    world.target.tenantWrites(put('leases/a', 'served'));
    await bumpRevision(world.source.open(), world.target.open());
    await world.source.open().unfence();
    world.source.tenantWrites(put('pods/after', 'x'));
    expect(world.source.revision).toBeGreaterThan(world.target.revision);
  });

  test('fences the target before it reads its revision', async () => {
    const { source, target } = setUp();
    target.before = (call) => {
      if (call === 'fence') target.tenantWrites(put('leases/a', 'the last one'));
    };
    await bumpRevision(source.open(), target.open());
    expect(target.fenced).toBe(true);
    expect(source.revision).toBe(5001n + 1000n);
  });

  test('raises once, and again if the target’s other tenants get close', async () => {
    const { source, target, raises } = setUp();
    for (const revision of [5000n, 5000n, 5500n, 5501n]) {
      target.revision = revision;
      await bumpRevision(source.open(), target.open());
    }
    expect([raises(), source.revision]).toEqual([2, 6501n]);
  });

  test('does not change a source whose revision is already higher', async () => {
    const { source, target, raises } = setUp(3n);
    source.revision = 9000n;
    await bumpRevision(source.open(), target.open());
    expect(raises()).toBe(0);
  });

  test('adds a large lead to the last known revision of a target that no longer answers', async () => {
    const { source } = setUp();
    await bumpRevision(source.open(), 5000n);
    expect(source.revision).toBe(105_000n);
  });

  test('ends when a checkpoint throws', async () => {
    const { source, target } = setUp();
    const stop = (): never => {
      throw new Error('the process ends');
    };
    await expect(bumpRevision(source.open(), target.open(), stop)).rejects.toThrow('the process ends');
  });
});

import { describe, expect, test } from '@jest/globals';
import { MemoryTenancy } from '../../testing/memory-tenancy.ts';
import { MovingTenancy, put } from '../../testing/moving-tenancy.ts';
import { raiseAbove } from './raise-above.ts';

function setUp(targetRevision = 5000n) {
  const [source, target] = [new MemoryTenancy(), new MemoryTenancy()];
  target.revision = targetRevision;
  let raises = 0;
  source.before = (call) => {
    if (call === 'raise') raises += 1;
  };
  return { source, target, raises: () => raises };
}

describe('raiseAbove', () => {
  test('puts the writes of a source that is taken back above all that the target’s clients saw', async () => {
    const world = new MovingTenancy();
    world.expectDone(await world.run());
    world.target.tenantWrites(put('leases/a', 'served'));
    await raiseAbove(world.source.open(), world.target.open());
    await world.source.open().unfence();
    world.source.tenantWrites(put('pods/after', 'x'));
    expect(world.source.revision).toBeGreaterThan(world.target.revision);
  });

  test('lets the target’s tenant write no more before it asks how far that came', async () => {
    const { source, target } = setUp();
    target.before = (call) => {
      if (call === 'fence') target.tenantWrites(put('leases/a', 'the last one'));
    };
    await raiseAbove(source.open(), target.open());
    expect(target.fenced).toBe(true);
    expect(source.revision).toBe(5001n + 1000n);
  });

  test('raises once, and again when the target’s other tenants come near', async () => {
    const { source, target, raises } = setUp();
    for (const revision of [5000n, 5000n, 5500n, 5501n]) {
      target.revision = revision;
      await raiseAbove(source.open(), target.open());
    }
    expect([raises(), source.revision]).toEqual([2, 6501n]);
  });

  test('leaves a source that is ahead as it is', async () => {
    const { source, target, raises } = setUp(3n);
    source.revision = 9000n;
    await raiseAbove(source.open(), target.open());
    expect(raises()).toBe(0);
  });

  test('keeps far from the last revision that is known of a target that answers no more', async () => {
    const { source } = setUp();
    await raiseAbove(source.open(), 5000n);
    expect(source.revision).toBe(105_000n);
  });

  test('ends when a checkpoint throws', async () => {
    const { source, target } = setUp();
    const stop = (): never => {
      throw new Error('the process ends');
    };
    await expect(raiseAbove(source.open(), target.open(), stop)).rejects.toThrow('the process ends');
  });
});

import { describe, expect, test } from '@jest/globals';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

describe('The tenancy of a running tenant', () => {
  test('is ensured once by each process, which restores what was removed', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    const [user = ''] = [...world.store.tenancies.values()].map((tenancy) => tenancy.user);
    expect(world.store.access.has(user)).toBe(true);
    world.store.access.remove(user);
    const asked = world.store.calls.length;
    await world.change({ metadata: { labels: { any: 'change' } } });
    await world.settle();
    expect(world.store.calls).toHaveLength(asked);
    world.restart();
    await world.settle();
    expect(world.store.calls.slice(asked)).toEqual(['ensure']);
    expect(world.store.access.has(user)).toBe(true);
  });
});

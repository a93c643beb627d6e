import { expect, test } from '@jest/globals';
import type { Stage } from './stage.ts';

/** The life of a tenancy: made, made again, removed, and interrupted at any of it. */
export function testTenancies<Config>(started: () => Stage<Config>): void {
  test('creates a tenancy whose credentials can write and read', async () => {
    const stage = started();
    await stage.use(await stage.settle(), 'mine');
  });

  test('changes nothing when a tenancy is ensured again', async () => {
    const stage = started();
    const { tenancy } = await stage.settle();
    const before = await stage.store.dump();
    await stage.session.ensure(tenancy);
    expect(await stage.store.dump()).toEqual(before);
  });

  test('removes all data of a removed tenant, and no data of others', async () => {
    const stage = started();
    await stage.use(await stage.settle(), 'stays');
    const before = await stage.store.dump();
    const tenant = await stage.settle();
    await stage.use(tenant, 'goes');
    await stage.session.remove(tenant.tenancy);
    expect(await stage.store.dump()).toEqual(before);
  });

  test('revokes the access of a removed tenant, and is idempotent', async () => {
    const stage = started();
    const tenant = await stage.settle();
    await stage.use(tenant, 'x');
    await stage.session.remove(tenant.tenancy);
    await expect(stage.use(tenant, 'y')).rejects.toBeDefined();
    await stage.session.remove(tenant.tenancy);
  });

  test('removes everything of a tenant that goes on writing, and nothing is written afterwards', async () => {
    const stage = started();
    const { session, store } = stage;
    const before = await store.dump();
    const tenant = await stage.settle();
    await stage.use(tenant, 'first');
    await using open = await stage.connect(tenant);
    let written = 0;
    const writing = (async () => {
      for (;;) await open.write(`key-${written % 7}`, String((written += 1)));
    })().catch((error: unknown) => error);
    while (written < 20) await open.read('a');
    await session.remove(tenant.tenancy);
    expect(await writing).toBeDefined();
    expect(await store.dump()).toEqual(before);
  });

  test('revokes the access of a tenant and retains its data, until its tenancy is ensured again', async () => {
    const stage = started();
    const { session } = stage;
    const tenant = await stage.settle();
    await stage.use(tenant, 'kept');
    {
      await using open = await stage.connect(tenant);
      await session.revoke?.(tenant.tenancy);
      // A driver under this contract can revoke: only one login for all tenants cannot, and has tests of its own.
      await expect(open.read('a')).rejects.toBeDefined();
    }
    await expect(stage.use(tenant, 'late')).rejects.toBeDefined();
    await session.revoke?.(tenant.tenancy);
    await using again = await stage.connect(await stage.settle(tenant.tenancy));
    expect(await again.read('a')).toBe('kept');
    await again.write('a', 'mine again');
  });

  test('revokes access to the tenant’s own tenancy only, and does nothing for one without a tenancy', async () => {
    const stage = started();
    const { session, store } = stage;
    const other = await stage.settle();
    const before = await store.dump();
    await session.revoke?.({ ...stage.newTenancy(), schema: other.tenancy.schema, user: other.tenancy.user });
    await stage.use(other, 'untouched');
    await session.remove(other.tenancy);
    const gone = await stage.settle();
    await session.revoke?.(gone.tenancy);
    await session.remove(gone.tenancy);
    expect((await store.dump()).length).toBeLessThan(before.length);
  });

  test('gives a tenant that is recreated with the same names none of the previous data', async () => {
    const stage = started();
    const tenant = await stage.settle();
    await stage.use(tenant, 'old');
    await stage.session.remove(tenant.tenancy);
    await using hand = await stage.connect(await stage.settle(tenant.tenancy));
    expect(await hand.read('a')).toBeUndefined();
  });

  test('completes and removes a tenancy that a crash left incomplete', async () => {
    const stage = started();
    const { store, session } = stage;
    expect(store.halfMade.length).toBeGreaterThan(0);
    for (const state of store.halfMade) {
      const before = await store.dump();
      const healed = stage.newTenancy();
      await state.make(healed);
      await stage.use(await stage.settle(healed), state.name);
      await session.remove(healed);
      const abandoned = stage.newTenancy();
      await state.make(abandoned);
      await session.remove(abandoned);
      expect([state.name, ...(await store.dump())]).toEqual([state.name, ...before]);
    }
  }, 60_000);

  test('accepts the recorded credentials of a tenant, whichever of two a crash left in the datastore', async () => {
    const stage = started();
    const first = await stage.settle();
    await stage.use(first, 'first');
    // The store has the second already, but the operator died before it could record it.
    const second = await stage.settle({ ...first.tenancy, ...stage.password('second') });
    await stage.use(second, 'second');
    await stage.session.ensure(first.tenancy);
    await stage.use(first, 'first again');
    if (stage.store.driver.capabilities.passwords) await expect(stage.use(second, 'late')).rejects.toBeDefined();
    await stage.session.ensure(second.tenancy);
    await stage.use(second, 'second again');
    if (stage.store.driver.capabilities.passwords) await expect(stage.use(first, 'late')).rejects.toBeDefined();
  });

  test('creates many tenancies at once', async () => {
    const stage = started();
    const tenants = await Promise.all(Array.from({ length: 20 }, () => stage.settle()));
    await Promise.all(tenants.map((tenant, index) => stage.use(tenant, `value ${index}`)));
    await Promise.all(tenants.map((tenant) => stage.session.remove(tenant.tenancy)));
  }, 60_000);
}

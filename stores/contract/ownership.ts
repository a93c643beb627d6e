import { expect, test } from '@jest/globals';
import type { Stage } from './stage.ts';

/** Names belong to one owner. */
export function testOwnership<Config>(started: () => Stage<Config>): void {
  test('refuses a schema or a user that another owner has, and touches neither', async () => {
    const stage = started();
    const { store, session } = stage;
    const { tenancy } = await stage.settle();
    const before = await store.dump();
    const mine = stage.newTenancy();
    for (const foreign of [
      { schema: tenancy.schema },
      { user: tenancy.user },
      { schema: tenancy.schema, user: tenancy.user },
    ]) {
      for (const adopt of [false, true]) {
        const attempt = session.ensure({ ...mine, ...foreign, adopt });
        await expect(attempt).rejects.toMatchObject({ name: 'StoreError', reason: 'OwnedByAnother' });
        await session.remove({ ...mine, ...foreign, adopt });
      }
    }
    expect(await store.dump()).toEqual(before);
  });

  test('adopts a tenancy without a recorded owner only with the option for that', async () => {
    const stage = started();
    const { store, session } = stage;
    const before = await store.dump();
    const tenancy = stage.newTenancy();
    await store.makeUnrecorded(tenancy);
    await expect(session.ensure(tenancy)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await expect(session.remove(tenancy)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await stage.use(await stage.settle({ ...tenancy, adopt: true }), 'adopted');
    await session.remove(tenancy);
    expect(await store.dump()).toEqual(before);
  });

  test('gives the names to only one of two concurrent owners', async () => {
    const stage = started();
    const tenancy = stage.newTenancy();
    const rivals = ['left', 'right'].map((owner) => ({ ...tenancy, owner }));
    const outcomes = await Promise.allSettled(rivals.map((rival) => stage.session.ensure(rival)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
  });
}

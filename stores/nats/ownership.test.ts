import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Tenancy } from '../driver.ts';
import { readOwnership, recordOwnership, releaseOwnership } from './ownership.ts';
import type { OwnershipRecord, Records } from './records.ts';

/** Records in memory; each call is answered when the scheduler says so. */
function records(scheduler?: fc.Scheduler): Records & { readonly kept: Map<string, OwnershipRecord> } {
  const kept = new Map<string, OwnershipRecord>();
  const turn = async <T>(work: () => T): Promise<T> => {
    if (scheduler !== undefined) await scheduler.schedule(Promise.resolve());
    return work();
  };
  return {
    kept,
    read: (key) => turn(() => kept.get(key)),
    create: (key, record) =>
      turn(() => {
        if (kept.has(key)) return false;
        kept.set(key, record);
        return true;
      }),
    forget: (key) =>
      turn(() => {
        kept.delete(key);
      }),
  };
}

const names = fc.constantFrom('a', 'b');

describe('Concurrent owners', () => {
  test('leave ownership records only of those who won', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.uniqueArray(fc.record({ schema: names, user: names, owner: fc.constantFrom('x', 'y', 'z') }), {
          minLength: 2,
          maxLength: 3,
          selector: ({ owner }) => owner,
        }),
        async (scheduler, rivals: readonly Tenancy[]) => {
          const store = records(scheduler);
          const racing = Promise.allSettled(rivals.map((rival) => recordOwnership(store, rival)));
          const outcomes = await scheduler.waitFor(racing);
          const winners = rivals.filter((_, index) => outcomes[index]?.status === 'fulfilled');
          const expected = winners.flatMap(({ schema, user }) => [`schemas.${schema}`, `users.${user}`]).sort();
          expect([...store.kept.keys()].sort()).toEqual(expected);
          expect(new Set(expected).size).toBe(expected.length);
        },
      ),
    );
  });

  test('are recognized by the name that a crash has left, and by both once it is repaired', async () => {
    const store = records();
    const tenancy = { schema: 'a', user: 'b', owner: 'x' };
    expect(await readOwnership(store, tenancy)).toEqual({ is: 'unrecorded' });
    await store.create('schemas.a', tenancy);
    expect(await readOwnership(store, tenancy)).toEqual({ is: 'own', whole: false });
    await recordOwnership(store, tenancy);
    expect(await readOwnership(store, tenancy)).toEqual({ is: 'own', whole: true });
    expect(await readOwnership(store, { ...tenancy, schema: 'c' })).toEqual({ is: 'foreign', owner: 'x' });
    expect(await readOwnership(store, { ...tenancy, owner: 'y' })).toEqual({ is: 'foreign', owner: 'x' });
    await releaseOwnership(store, tenancy);
    expect(store.kept.size).toBe(0);
  });
});

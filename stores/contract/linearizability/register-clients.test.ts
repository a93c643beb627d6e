import { describe, expect, test } from '@jest/globals';
import { startMemoryDataUnderTest } from '../../../testing/contracts/stores/memory/data-under-test.ts';
import type { ApiServerHand, DataTenant, VersionedValue } from '../tenancy-data-contract.ts';
import { RegisterClients } from './register-clients.ts';
import type { RegisterResult } from './register-clients.ts';

/** Lets clients use a tenant in memory, over a hand that a fault was planted in. */
async function used(
  plant: (hand: ApiServerHand) => Partial<ApiServerHand>,
  peculiarities: DataTenant['peculiarities'] = [],
  until = 150,
): Promise<RegisterResult> {
  await using store = await startMemoryDataUnderTest();
  await using tenant = await store.tenant();
  const { hand } = tenant;
  const planted: ApiServerHand = { ...hand, ...plant(hand) };
  await using clients = new RegisterClients([hand, planted], { peculiarities }, { name: 'planted', pauseMs: 0 });
  while (clients.answered < until) await new Promise(setImmediate);
  await clients.end();
  return clients.result();
}

/** True for every fifth call. */
function fifth(): () => boolean {
  let calls = 0;
  return () => {
    calls += 1;
    return calls % 5 === 0;
  };
}

describe('Clients that share the keys of a tenant', () => {
  test('find no violation in a store without a fault, and overlap', async () => {
    const result = await used(() => ({}));
    expect(result).toMatchObject({ unknown: 0, staleReads: 0, violations: [] });
    expect(result.operations).toBeGreaterThan(result.changes);
  });

  test('find a write that was acknowledged and lost', async () => {
    const isLost = fifth();
    const { violations } = await used((hand) => ({
      put: (key, value) => (isLost() ? Promise.resolve(1n) : hand.put(key, value)),
      replace: async (key, revision, value) =>
        isLost() ? { is: 'done', revision: revision + 1n } : hand.replace(key, revision, value),
    }));
    expect(violations).not.toEqual([]);
  });

  test('find a refused update that took effect', async () => {
    const { violations } = await used((hand) => ({
      replace: async (key, revision, value) => {
        await hand.replace(key, revision, value);
        return { is: 'conflict' };
      },
    }));
    expect(violations).not.toEqual([]);
    expect(violations[0]?.message).toContain('(failed)');
  });

  test('find a refused deletion that took effect, unless the store deletes with two writes', async () => {
    const refusing = (hand: ApiServerHand): Partial<ApiServerHand> => ({
      replace: async (key, revision, value) => {
        const replaced = await hand.replace(key, revision, value);
        return value === undefined ? { is: 'conflict' } : replaced;
      },
    });
    const strict = await used(refusing, ['reads lag']);
    expect(strict.violations).not.toEqual([]);
    const expected = await used(refusing, ['reads lag', 'deletes with two writes']);
    expect(expected.violations).toEqual([]);
    expect(expected.unknown).toBeGreaterThan(0);
  });

  test('know nothing of a change without an answer, whether it took effect or not', async () => {
    const [isRefused, isUnanswered] = [fifth(), fifth()];
    const result = await used((hand) => ({
      put: async (key, value) => {
        if (isRefused()) throw new Error('no connection');
        const revision = await hand.put(key, value);
        if (isUnanswered()) throw new Error('no answer');
        return revision;
      },
    }));
    expect(result.violations).toEqual([]);
    expect(result.unknown).toBeGreaterThan(0);
  });

  test('find stale reads, or count them where they are to be expected', async () => {
    const cached = (hand: ApiServerHand): Partial<ApiServerHand> => {
      const first = new Map<string, VersionedValue | undefined>();
      return {
        getVersion: async (key) => {
          if (!first.has(key)) first.set(key, await hand.getVersion(key));
          return first.get(key);
        },
      };
    };
    const strict = await used(cached);
    expect(strict.violations).not.toEqual([]);
    const counted = await used(cached, ['reads lag']);
    expect(counted.violations).toEqual([]);
    expect(counted.staleReads).toBeGreaterThan(0);
  });
});

import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { MemoryStore } from '../testing/fake/memory-driver.ts';
import type { Session } from './driver.ts';
import { guardSession } from './guard-session.ts';

const tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid' };
const signal = new AbortController().signal;
const compaction = { limits: { usedPercent: 40, historyMs: 1 }, memory: { seen: [] }, clock: new FakeClock() };
const defragmentation = {
  limits: { freePercent: 50, minimumBytes: 1, maximumPauseMs: 1 },
  ...{ previous: [], clock: new FakeClock(), signal },
};

/** A session with everything that a session can do, on a store with one tenancy. */
async function setUp(): Promise<{ readonly store: MemoryStore; readonly session: Session }> {
  const store = new MemoryStore();
  const session: Session = {
    ...(await store.driver.open('store:1', signal)),
    openings: () => Promise.resolve(['the tenant sees others']),
    publishCompaction: () => Promise.resolve(void store.calls.push('publishCompaction')),
    compactEarly: () => {
      store.calls.push('compactEarly');
      return Promise.resolve({ memory: { seen: [] }, afterMs: 1 });
    },
    defragment: () => {
      store.calls.push('defragment');
      return Promise.resolve({ is: 'unneeded' });
    },
  };
  await session.ensure(tenancy);
  store.calls.length = 0;
  return { store, session };
}

const refuse = (): never => {
  throw new Error('this process is not the leader');
};

describe('A guarded session', () => {
  test('changes nothing once the process must not write anymore', async () => {
    const { store, session } = await setUp();
    const guarded = guardSession(session, refuse);
    const data = await guarded.data?.(tenancy);
    store.calls.length = 0;
    const writes = [
      () => guarded.ensure(tenancy),
      () => guarded.remove(tenancy),
      () => guarded.revoke?.(tenancy),
      () => guarded.publishCompaction?.(),
      () => guarded.compactEarly?.(compaction),
      () => guarded.defragment?.(defragmentation),
      () => data?.beginWrites(),
      () => data?.endWrites(),
      () => data?.write([{ is: 'put', entry: { key: 'pods/a', value: Buffer.from('a') } }]),
      () => data?.raise(100n),
      () => data?.fence(),
      () => data?.openUncopied?.(),
      () => data?.unfence(),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow('not the leader');
    expect({ calls: store.calls, fenced: store.fenced, keys: await data?.count() }).toEqual({
      ...{ calls: [], fenced: [], keys: 0 },
    });
  });

  test('still reads', async () => {
    const { session } = await setUp();
    const guarded = guardSession(session, refuse);
    expect(await guarded.ping()).toMatchObject({ supported: true });
    expect(await guarded.measure(tenancy, signal)).toEqual({ bytes: 0, content: { keys: 0, bytes: 0 }, writes: 0 });
    expect(await guarded.countWrites(tenancy, signal)).toBe(0);
    expect(await guarded.openings?.()).toEqual(['the tenant sees others']);
    await using data = await guarded.data?.(tenancy);
    expect(await data?.revision()).toEqual(expect.any(BigInt));
    expect(await data?.changes(0n)).toMatchObject({ changes: [] });
  });

  test('does all that the session does while the process may write', async () => {
    const { store, session } = await setUp();
    let asked = 0;
    const guarded = guardSession(session, () => void (asked += 1));
    await using data = await guarded.data?.(tenancy);
    await data?.beginWrites();
    await data?.write([{ is: 'put', entry: { key: 'pods/a', value: Buffer.from('a') } }]);
    await data?.endWrites();
    await data?.fence();
    expect({ keys: await data?.count(), fenced: store.fenced }).toEqual({ keys: 1, fenced: ['tenant'] });
    await data?.unfence();
    await guarded.publishCompaction?.();
    await guarded.compactEarly?.(compaction);
    await guarded.defragment?.(defragmentation);
    await guarded.revoke?.(tenancy);
    await guarded.remove(tenancy);
    expect(store.tenancies.size).toBe(0);
    expect(asked).toBe(10);
  });

  test('is without what the session cannot do', () => {
    const few: Session = {
      ping: () => Promise.reject(new Error('not asked')),
      ensure: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      measure: () => Promise.resolve(undefined),
      countWrites: () => Promise.resolve(undefined),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    expect(Object.keys(guardSession(few, refuse)).toSorted()).toEqual([
      'countWrites',
      'ensure',
      'measure',
      'ping',
      'remove',
    ]);
  });
});

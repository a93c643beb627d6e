import { expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { MemoryStore } from '../../testing/fake/memory-driver.ts';
import type { Driver, IsolationProbe, Session } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import { canaries } from './canaries.ts';
import { verifyIsolation } from './verify-isolation.ts';
import type { IsolationVerdict } from './verify-isolation.ts';

interface Changes {
  readonly session?: Partial<Session>;
  readonly probe?: Partial<IsolationProbe<string>>;
  readonly clock?: FakeClock;
  readonly signal?: AbortSignal;
}

/** Verifies a store in memory, some of whose parts may be others. */
async function verify(store: MemoryStore, changes: Changes = {}): Promise<IsolationVerdict> {
  const signal = changes.signal ?? new AbortController().signal;
  await using session = await store.driver.open('memory', signal);
  const driver: Driver<string> = {
    ...store.driver,
    isolation: async () => ({ ...(await store.driver.isolation()), ...changes.probe }),
  };
  const clock = changes.clock ?? new FakeClock();
  return await verifyIsolation({
    ...{ driver, config: 'memory', id: 'one', clock, signal },
    session: { ...session, ...changes.session, [Symbol.asyncDispose]: () => Promise.resolve() },
  });
}

/** Tenancies of the store that begin like canaries. */
const left = (store: MemoryStore): readonly string[] => [...store.tenancies.keys()];

test.each([{ kine: false }, { kine: true }])(
  'finds nothing where tenants are isolated, and leaves nothing',
  async (kind) => {
    const store = new MemoryStore(kind);
    expect(await verify(store)).toEqual({ attempts: 4 });
    expect(left(store)).toEqual([]);
    expect(store.access.users).toEqual([]);
  },
);

test('names what was allowed first, makes no further attempt, and leaves nothing', async () => {
  const store = new MemoryStore({ kine: true });
  const [first, second] = canaries('one', store.driver.capabilities);
  store.after = (call) => {
    if (call === 'ensure' && store.access.has(second.user)) store.access.grantForeign(first.user, second.schema);
  };
  expect(await verify(store)).toEqual({ attempts: 1, breach: 'read a key of another tenant' });
  expect(left(store)).toEqual([]);
});

test('finds a hole in either direction', async () => {
  const store = new MemoryStore({ kine: true });
  const [first, second] = canaries('one', store.driver.capabilities);
  store.after = (call) => {
    if (call === 'ensure' && store.access.has(second.user)) store.access.grantForeign(second.user, first.schema);
  };
  expect(await verify(store)).toEqual({ attempts: 3, breach: 'read a key of another tenant' });
});

test('reports what the server has open already, without creating tenancies', async () => {
  const store = new MemoryStore();
  const openings = () => Promise.resolve(['connections by every role']);
  expect(await verify(store, { session: { openings } })).toEqual({ attempts: 1, breach: 'connections by every role' });
  expect(store.calls).toEqual([]);
});

test('makes no attempt that would reach beyond the two tenancies', async () => {
  const store = new MemoryStore();
  const made: string[] = [];
  const genuine = await store.driver.isolation();
  const probe: Partial<IsolationProbe<string>> = {
    attack: async (...all) => {
      const found = await genuine.attack(...all);
      const run = (): Promise<void> => Promise.resolve(void made.push('shut down'));
      return { ...found, lanes: [[{ name: 'shut down', reach: 'server', run }], ...found.lanes] };
    },
  };
  expect(await verify(store, { probe })).toEqual({ attempts: 4 });
  expect(made).toEqual([]);
});

test('closes the connections of an attack only after its last attempt', async () => {
  const store = new MemoryStore();
  const order: string[] = [];
  const genuine = await store.driver.isolation();
  const probe: Partial<IsolationProbe<string>> = {
    attack: async (...all) => {
      const found = await genuine.attack(...all);
      const noted = found.lanes.map((lane) =>
        lane.map((attempt) => ({
          ...attempt,
          run: async () => {
            await new Promise((resolve) => setImmediate(resolve));
            order.push('attempt');
            return attempt.run();
          },
        })),
      );
      return { lanes: noted, [Symbol.asyncDispose]: () => Promise.resolve(void order.push('closed')) };
    },
  };
  await verify(store, { probe });
  expect(order).toEqual(['attempt', 'attempt', 'closed', 'attempt', 'attempt', 'closed']);
});

test('proves nothing with credentials that do not open their own tenancy', async () => {
  const store = new MemoryStore({ kine: true });
  const [first] = canaries('one', store.driver.capabilities);
  store.after = (call) => {
    if (call === 'ensure') store.access.remove(first.user);
  };
  expect(await verify(store)).toMatchObject({
    unclear: expect.stringMatching(/^a canary tenancy cannot be used with its own credentials: permission denied/),
  });
});

test('proves nothing when the credentials stop working meanwhile: everything was refused then', async () => {
  const store = new MemoryStore({ kine: true });
  const genuine = await store.driver.isolation();
  const [, second] = canaries('one', store.driver.capabilities);
  const probe: Partial<IsolationProbe<string>> = {
    attack: (config, attacker, victim) => {
      if (attacker.tenancy.user === second.user) store.access.remove(second.user);
      return genuine.attack(config, attacker, victim);
    },
  };
  expect(await verify(store, { probe })).toMatchObject({
    attempts: 4,
    unclear: expect.stringContaining('own credentials'),
  });
});

test('finds a hole also when that is what keeps the victim out', async () => {
  const store = new MemoryStore({ kine: true });
  const [first, second] = canaries('one', store.driver.capabilities);
  store.after = (call) => {
    if (call !== 'ensure' || !store.access.has(second.user)) return;
    store.access.remove(second.user);
    store.access.grantForeign(first.user, second.schema);
  };
  expect(await verify(store)).toEqual({ attempts: 1, breach: 'read a key of another tenant' });
});

test('proves nothing when the tenants cannot be played', async () => {
  const probe = { attack: () => Promise.reject(new Error('connection lost')) };
  const unclear = 'a canary tenancy cannot be attacked: connection lost';
  expect(await verify(new MemoryStore(), { probe })).toEqual({ attempts: 0, unclear });
});

test('proves nothing when an attempt fails without an answer', async () => {
  const store = new MemoryStore();
  expect(await verify(store, { probe: { isAnswer: () => false } })).toMatchObject({
    unclear: expect.stringContaining('read a key of another tenant'),
  });
  expect(left(store)).toEqual([]);
});

test('gives up on a datastore that is too slow', async () => {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const genuine = await store.driver.isolation();
  const probe: Partial<IsolationProbe<string>> = {
    attack: async (...all) => {
      await clock.advance(21_000);
      return genuine.attack(...all);
    },
  };
  expect(await verify(store, { probe, clock })).toEqual({ attempts: 0, unclear: 'it did not finish within 20 s' });
  expect(left(store)).toEqual([]);
});

test('comes to no verdict once it is aborted, and leaves nothing', async () => {
  const store = new MemoryStore();
  const abort = new AbortController();
  const genuine = await store.driver.isolation();
  const [, second] = canaries('one', store.driver.capabilities);
  const probe: Partial<IsolationProbe<string>> = {
    attack: (config, attacker, victim) => {
      if (attacker.tenancy.user === second.user) abort.abort(new Error('the manager ends'));
      return genuine.attack(config, attacker, victim);
    },
  };
  await expect(verify(store, { probe, signal: abort.signal })).rejects.toThrow('the manager ends');
  expect(left(store)).toEqual([]);
});

test('removes what an interrupted verification left, whatever it was', async () => {
  for (let calls = 1; calls <= 6; calls += 1) {
    const store = new MemoryStore({ kine: true });
    let made = 0;
    store.after = () => {
      made += 1;
      // The process is gone from here on: it removes nothing either.
      if (made >= calls) throw new Error('died');
    };
    await expect(verify(store)).rejects.toThrow('died');
    store.after = () => undefined;
    expect(await verify(store)).toEqual({ attempts: 4 });
    expect(left(store)).toEqual([]);
  }
});

test('throws when the datastore does not take the canary tenancies', async () => {
  const store = new MemoryStore();
  store.failure = new StoreError('Unauthorized', 'may not create users');
  await expect(verify(store)).rejects.toMatchObject({ reason: 'Unauthorized' });
});

test('reports a breach also if it prevents the removal of the canary tenancies', async () => {
  const store = new MemoryStore({ kine: true });
  const [first, second] = canaries('one', store.driver.capabilities);
  let made = 0;
  store.after = (call) => {
    if (call === 'ensure') {
      made += 1;
      if (store.access.has(second.user)) store.access.grantForeign(first.user, second.schema);
    }
    if (call === 'remove' && made === 2) throw new StoreError('Unauthorized', 'must be superuser to drop superusers');
  };
  expect(await verify(store)).toEqual({ attempts: 1, breach: 'read a key of another tenant' });
});

test('repeats no password that an error contains', async () => {
  const store = new MemoryStore({ kine: true });
  const passwords: string[] = [];
  const probe: Partial<IsolationProbe<string>> = {
    attack: (_, { tenancy }) => {
      passwords.push(tenancy.password ?? '');
      return Promise.reject(new Error(`cannot log in with ${tenancy.password ?? ''} ${'x'.repeat(10_000)}`));
    },
  };
  const { unclear = '' } = await verify(store, { probe });
  expect(unclear).toMatch(/^a canary tenancy cannot be attacked: cannot log in with … x+$/);
  expect(unclear.length).toBeLessThanOrEqual(500);
  expect(passwords[0]).not.toBe('');
});

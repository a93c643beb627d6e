import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { Connection } from '../runtime/client/connection.ts';
import { FakeClock, settle } from '../testing/fake/fake-clock.ts';
import { FakeCluster } from '../testing/fake/fake-cluster.ts';
import { kinds } from '../api/core/kinds.ts';
import { ApiError, UnreachableError } from '../runtime/client/errors.ts';
import type { ClusterOptions } from '../runtime/client/http-cluster.ts';
import { repeatsOf } from '../runtime/queue/repeats.ts';
import { TenantPool } from './pool.ts';

const connection = (token: string): Connection => ({ server: 'https://tenant.default.svc:6443', token });

function setUp(): {
  readonly pool: TenantPool;
  readonly clock: FakeClock;
  readonly opened: FakeCluster[];
  readonly closed: FakeCluster[];
} {
  const clock = new FakeClock();
  const opened: FakeCluster[] = [];
  const closed: FakeCluster[] = [];
  const open = (): FakeCluster => {
    const cluster = new FakeCluster();
    const close = cluster.close.bind(cluster);
    cluster.close = () => {
      closed.push(cluster);
      return close();
    };
    opened.push(cluster);
    return cluster;
  };
  return { pool: new TenantPool({ memory: new ObjectMemory(), clock, open, idleMs: 1000 }), clock, opened, closed };
}

describe('TenantPool', () => {
  test('gives one client to all users with the same tenant and credentials', () => {
    const { pool, opened } = setUp();
    expect(pool.borrow('uid', connection('a'))).toBe(pool.borrow('uid', connection('a')));
    expect(opened).toHaveLength(1);
  });

  test('opens another client and closes the previous one when the credentials have changed', () => {
    const { pool, opened, closed } = setUp();
    const before = pool.borrow('uid', connection('a'));
    const after = pool.borrow('uid', connection('b'));
    expect(after).not.toBe(before);
    expect(opened).toHaveLength(2);
    expect(closed).toEqual([opened[0]]);
    expect(pool.size).toBe(1);
  });

  test('separates tenants that differ in their UID only', () => {
    const { pool } = setUp();
    expect(pool.borrow('one', connection('a'))).not.toBe(pool.borrow('two', connection('a')));
  });

  test('closes a client that was not used for a while, counted from the last use', async () => {
    const { pool, clock, closed, opened } = setUp();
    const first = pool.borrow('uid', connection('a'));
    await clock.advance(900);
    pool.borrow('uid', connection('a'));
    await clock.advance(900);
    expect(closed).toEqual([]);
    await clock.advance(200);
    expect(closed).toEqual([opened[0]]);
    expect(pool.borrow('uid', connection('a'))).not.toBe(first);
  });

  test('keeps a client open while it is held, and closes it when it is released', async () => {
    const { pool, clock, closed, opened } = setUp();
    pool.borrow('uid', connection('a'));
    const release = pool.hold('uid');
    await clock.advance(5000);
    expect(closed).toEqual([]);
    release();
    release();
    await clock.advance(2000);
    expect(closed).toEqual([opened[0]]);
    expect(() => {
      pool.hold('uid')();
    }).not.toThrow();
  });

  test('keeps a client that one of two holders has released, even twice', async () => {
    const { pool, clock, closed, opened } = setUp();
    pool.borrow('uid', connection('a'));
    const [first, second] = [pool.hold('uid'), pool.hold('uid')];
    first();
    first();
    await clock.advance(5000);
    expect(closed).toEqual([]);
    second();
    await clock.advance(2000);
    expect(closed).toEqual([opened[0]]);
  });

  test('closes an idle client whose only holder has released it once', async () => {
    const { pool, clock, closed } = setUp();
    pool.borrow('uid', connection('a'));
    pool.hold('uid')();
    await clock.advance(2000);
    expect(closed).toHaveLength(1);
  });

  test('resolves leave only when the client is closed', async () => {
    const ended = Promise.withResolvers<undefined>();
    const open = (): FakeCluster => Object.assign(new FakeCluster(), { close: () => ended.promise });
    const pool = new TenantPool({ memory: new ObjectMemory(), clock: new FakeClock(), open });
    pool.borrow('uid', connection('a'));
    const left = pool.leave('uid').then(() => 'left');
    await settle();
    expect(await Promise.race([left, Promise.resolve('waiting')])).toBe('waiting');
    ended.resolve(undefined);
    expect(await left).toBe('left');
  });

  test('closes a held client when the credentials change', () => {
    const { pool, closed, opened } = setUp();
    pool.borrow('uid', connection('a'));
    pool.hold('uid');
    pool.borrow('uid', connection('b'));
    expect(closed).toEqual([opened[0]]);
  });

  test('has no timers of a deleted tenant, and ignores a tenant that it does not know', async () => {
    const { pool, clock, closed } = setUp();
    pool.borrow('uid', connection('a'));
    await pool.leave('uid');
    expect([clock.pending, closed.length, pool.size]).toEqual([0, 1, 0]);
    await expect(pool.leave('nobody')).resolves.toBeUndefined();
    expect(() => {
      pool.hold('nobody')();
    }).not.toThrow();
  });

  test('closes every client when the process ends', async () => {
    const { pool, closed } = setUp();
    pool.borrow('one', connection('a'));
    pool.borrow('two', connection('a'));
    await pool.close();
    expect(closed).toHaveLength(2);
    expect(pool.size).toBe(0);
  });
});

test('limits a tenant to eight requests at once, ten seconds per response, 8 MiB per response and 1 MiB per line', () => {
  const given: ClusterOptions[] = [];
  const open = (_connection: Connection, limits: ClusterOptions): FakeCluster => {
    given.push(limits);
    return new FakeCluster();
  };
  new TenantPool({ memory: new ObjectMemory(), clock: new FakeClock(), open }).borrow('uid', connection('a'));
  const limits = {
    name: 'tenant',
    connections: 8,
    timeoutMs: 10_000,
    maxBodyBytes: 8_388_608,
    maxLineBytes: 1_048_576,
  };
  expect(given).toEqual([limits]);
});

describe('A request that a tenant refused', () => {
  const signal = new AbortController().signal;
  const refused = async (): Promise<ReturnType<typeof setUp> & { readonly error: unknown }> => {
    const all = setUp();
    const client = all.pool.borrow('uid', connection('a'));
    all.opened[0]?.failNext(() => true, new UnreachableError('no'), 2);
    const error: unknown = await client.get(kinds.ConfigMap, { name: 'a', namespace: 'b' }).catch((e: unknown) => e);
    return { ...all, error };
  };

  test('can be repeated alone, and leads to a reconcile when the answer changes', async () => {
    const { error, opened } = await refused();
    const [repeat] = repeatsOf(error);
    expect(await repeat?.(signal)).toBe(false);
    opened[0]?.failNext(() => true, new ApiError(500, 'InternalError', 'no'));
    expect(await repeat?.(signal)).toBe(true);
    expect(await repeat?.(signal)).toBe(true);
  });

  test('is repeated through an open client if the previous one was closed as idle', async () => {
    const { error, opened, clock, pool } = await refused();
    await clock.advance(5_000);
    expect(pool.size).toBe(0);
    expect(await repeatsOf(error)[0]?.(signal)).toBe(true);
    expect(opened).toHaveLength(2);
  });

  test('is repeated with the new credentials if they have changed since', async () => {
    const { error, opened, closed, pool } = await refused();
    pool.borrow('uid', connection('b'));
    opened[0]?.failNext(() => true, new UnreachableError('no'));
    expect(await repeatsOf(error)[0]?.(signal)).toBe(true);
    expect(opened).toHaveLength(2);
    expect(closed).toEqual([opened[0]]);
    expect(opened[1]?.calls).toHaveLength(1);
  });

  test('is found in errors that contain it, and leads to a reconcile if anything else failed too', async () => {
    const { error } = await refused();
    const other = (await refused()).error;
    expect(repeatsOf(new ApiError(500, 'X', 'applying it: no', { cause: error }))).toHaveLength(1);
    expect(repeatsOf(new AggregateError([error, other]))).toHaveLength(2);
    expect(repeatsOf(new AggregateError([error, new Error('of ours')]))).toEqual([]);
  });
});

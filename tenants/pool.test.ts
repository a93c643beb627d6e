import { describe, expect, test } from '@jest/globals';
import type { Connection } from '../runtime/connection.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeCluster } from '../testing/fake-cluster.ts';
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
  return { pool: new TenantPool({ clock, open, idleMs: 1000 }), clock, opened, closed };
}

describe('TenantPool', () => {
  test('lends one door to everybody who asks for the same tenant with the same credentials', () => {
    const { pool, opened } = setUp();
    expect(pool.borrow('uid', connection('a'))).toBe(pool.borrow('uid', connection('a')));
    expect(opened).toHaveLength(1);
  });

  test('opens another door and closes the old one when the credentials have changed', () => {
    const { pool, opened, closed } = setUp();
    const before = pool.borrow('uid', connection('a'));
    const after = pool.borrow('uid', connection('b'));
    expect(after).not.toBe(before);
    expect(opened).toHaveLength(2);
    expect(closed).toEqual([before]);
    expect(pool.size).toBe(1);
  });

  test('keeps tenants apart that differ in their UID only', () => {
    const { pool } = setUp();
    expect(pool.borrow('one', connection('a'))).not.toBe(pool.borrow('two', connection('a')));
  });

  test('lets a tenant go that nobody asked for in a while, and counts anew with every borrowing', async () => {
    const { pool, clock, closed } = setUp();
    const first = pool.borrow('uid', connection('a'));
    await clock.advance(900);
    pool.borrow('uid', connection('a'));
    await clock.advance(900);
    expect(closed).toEqual([]);
    await clock.advance(200);
    expect(closed).toEqual([first]);
    expect(pool.borrow('uid', connection('a'))).not.toBe(first);
  });

  test('keeps a door that somebody holds, and lets it go when nobody does any more', async () => {
    const { pool, clock, closed } = setUp();
    const first = pool.borrow('uid', connection('a'));
    const release = pool.hold('uid');
    await clock.advance(5000);
    expect(closed).toEqual([]);
    release();
    release();
    await clock.advance(2000);
    expect(closed).toEqual([first]);
    expect(() => {
      pool.hold('uid')();
    }).not.toThrow();
  });

  test('closes a door that is held when the credentials change', () => {
    const { pool, closed } = setUp();
    const first = pool.borrow('uid', connection('a'));
    pool.hold('uid');
    pool.borrow('uid', connection('b'));
    expect(closed).toEqual([first]);
  });

  test('closes every door when the process ends', async () => {
    const { pool, closed } = setUp();
    pool.borrow('one', connection('a'));
    pool.borrow('two', connection('a'));
    await pool.close();
    expect(closed).toHaveLength(2);
    expect(pool.size).toBe(0);
  });
});

import { describe, expect, test } from '@jest/globals';
import { EtcdLeases } from './leases.ts';

/** Leases of an etcd at a time that the test moves. */
function setUp(seconds: Readonly<Record<string, number>> = {}) {
  const clock = { now: 0 };
  const granted: number[] = [];
  let asked = 0;
  const client = {
    leaseSeconds: (lease: string) => {
      asked += 1;
      return Promise.resolve(seconds[lease]);
    },
    grantLease: (ttl: number) => Promise.resolve(String(granted.push(ttl))),
  };
  return { clock, granted, asked: () => asked, leases: new EtcdLeases(client, () => clock.now) };
}

describe('EtcdLeases', () => {
  test('queries once how long a lease lasts, and counts down', async () => {
    const { clock, asked, leases } = setUp({ a: 60 });
    expect(await leases.left('a')).toBe(60_000);
    clock.now = 59_000;
    expect(await leases.left('a')).toBe(1000);
    clock.now = 70_000;
    expect(await leases.left('a')).toBe(1);
    expect(asked()).toBe(1);
  });

  test('gives a key whose lease has expired the shortest time to live', async () => {
    expect(await setUp().leases.left('ended')).toBe(1);
  });

  test('puts keys that expire within the same second on one lease, also when they are written later', async () => {
    const { clock, granted, leases } = setUp();
    const first = await leases.granted(10_000);
    expect(await leases.granted(9500)).toBe(first);
    clock.now = 4000;
    expect(await leases.granted(6000)).toBe(first);
    expect(await leases.granted(7500)).not.toBe(first);
    expect(granted).toEqual([10, 8]);
  });

  test('never expires a key early', async () => {
    const { clock, granted, leases } = setUp();
    for (const ttl of [1, 1001, 2500]) await leases.granted(ttl);
    expect(granted).toEqual([1, 2, 3]);
    clock.now = 500;
    const shared = await leases.granted(8600);
    expect(await leases.granted(9400)).toBe(shared);
    expect(granted.at(-1)).toBe(10);
  });

  test('grants a new lease after one was found to be expired', async () => {
    const { granted, leases } = setUp();
    await leases.granted(5000);
    leases.forget();
    await leases.granted(5000);
    expect(granted).toHaveLength(2);
  });
});

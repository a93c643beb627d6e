import { describe, expect, test } from '@jest/globals';
import type { StoredChange } from '../../tenancy-data.ts';
import type { EtcdCalls } from '../client.ts';
import { EtcdData } from './data.ts';
import { LeaseGoneError } from './data-client.ts';
import type { EtcdDataCalls, EtcdOperation } from './data-client.ts';
import { tenancyRange, uncopiedRanges } from '../range.ts';

const put = (key: string, value: string | Buffer, ttlMs?: number): StoredChange => ({
  is: 'put',
  entry: { key, value: Buffer.from(value), ttlMs },
});

/** The data of tenancy `a` in an etcd that accepts every transaction, or fails as given. */
function setUp(over: Partial<EtcdDataCalls> = {}) {
  const transactions: (readonly EtcdOperation[])[] = [];
  let leases = 0;
  const data: Partial<EtcdDataCalls> = {
    write: (operations, only) => {
      if (only !== undefined) transactions.push(operations);
      return Promise.resolve(true);
    },
    grantLease: () => Promise.resolve(String((leases += 1))),
    ...over,
  };
  const client = { data } as EtcdCalls;
  return { transactions, subject: new EtcdData(client, 'a') };
}

const keyOf = (operation: EtcdOperation): string =>
  (operation.is === 'put' ? operation.entry.key : operation.key).toString();

describe('EtcdData', () => {
  test('writes below the tenant’s root, in transactions within etcd’s limits', async () => {
    const { transactions, subject } = setUp();
    const small = Array.from({ length: 250 }, (_, index) => put(`pods/${index}`, 'x'));
    const large = Array.from({ length: 4 }, (_, index) => put(`large/${index}`, Buffer.alloc(400 * 1024)));
    await subject.beginWrites();
    await subject.write([...small, ...large]);
    expect(transactions.map((one) => one.length).sort((left, right) => right - left)).toEqual([100, 100, 51, 1, 1, 1]);
    expect(transactions.flat().map(keyOf)).toContain('/a/pods/7');
    expect(new Set(transactions.flat().map(keyOf)).size).toBe(254);
  });

  test('writes the last change of a key only', async () => {
    const { transactions, subject } = setUp();
    await subject.beginWrites();
    await subject.write([
      put('x', 'old'),
      { is: 'deleted', key: 'y' },
      put('x', 'new'),
      put('y', 'new'),
      put('z', 'old'),
      { is: 'deleted', key: 'z' },
    ]);
    expect(
      transactions
        .flat()
        .map((one) => (one.is === 'put' ? one.entry.value.toString() : one.is))
        .sort(),
    ).toEqual(['delete', 'new', 'new']);
  });

  test('grants a new lease when the known one has expired', async () => {
    const written: (readonly EtcdOperation[])[] = [];
    const { subject } = setUp({
      write: (operations, only) => {
        if (only === undefined) return Promise.resolve(true);
        written.push(operations);
        const [first] = operations;
        return first?.is === 'put' && first.entry.lease === '1'
          ? Promise.reject(new LeaseGoneError('gone'))
          : Promise.resolve(true);
      },
    });
    await subject.beginWrites();
    await subject.write([put('events/x', 'x', 5000)]);
    expect(written.map(([first]) => (first?.is === 'put' ? first.entry.lease : undefined))).toEqual(['1', '2']);
  });

  test('counts only keys that are copied', async () => {
    const all = tenancyRange('a').start.toString();
    const { subject } = setUp({
      count: ({ start }) => Promise.resolve({ count: start.toString() === all ? 50 : 3, revision: 1n }),
    });
    expect(uncopiedRanges('a').length).toBeGreaterThan(0);
    expect(await subject.count()).toBe(50 - 3 * uncopiedRanges('a').length);
  });

  test('refuses a key that is not valid text, rather than copy another one', async () => {
    const key = Buffer.from([...Buffer.from('/a/pods/'), 0xff]);
    const { subject } = setUp({
      page: () => Promise.resolve({ entries: [{ key, value: Buffer.alloc(0) }], more: false }),
    });
    await expect(subject.pages(1n)[Symbol.asyncIterator]().next()).rejects.toThrow(/2f612f706f64732fff/);
  });
});

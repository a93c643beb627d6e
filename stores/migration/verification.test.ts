import { describe, expect, test } from '@jest/globals';
import { MemoryTenancy } from '../../testing/fake/memory-tenancy.ts';
import { put } from '../../testing/builders/put.ts';
import type { StoredChange } from '../tenancy-data.ts';
import { verifyChanges, verifyEverything } from './verification.ts';

const ending = (key: string, ttlMs: number): StoredChange => ({
  is: 'put',
  entry: { key, value: Buffer.from('x'), ttlMs },
});

/** Two stores, equal at first. */
class Stores {
  readonly source = new MemoryTenancy();
  readonly target = new MemoryTenancy();
  readonly since: { readonly source: bigint; readonly target: bigint };

  constructor(...changes: readonly StoredChange[]) {
    this.source.tenantWrites(...changes);
    this.target.revision = 100n;
    this.target.tenantWrites(...[...changes].reverse());
    this.since = { source: this.source.revision, target: this.target.revision };
  }

  both(...changes: readonly StoredChange[]): void {
    this.source.tenantWrites(...changes);
    this.target.tenantWrites(...changes);
  }

  everything() {
    return verifyEverything(this.#open(), this.source.revision, () => undefined);
  }

  changes(expiring = 0) {
    return verifyChanges(this.#open(), { ...this.since, changed: new Map(), expiring }, () => undefined);
  }

  #open() {
    return { source: this.source.open(), target: this.target.open() };
  }
}

const five = ['a', 'b', 'c', 'd', 'e'].map((key) => put(key, `value of ${key}`));

describe('verifyEverything', () => {
  test('counts keys and computes a fingerprint that does not depend on their order', async () => {
    const said = await new Stores(...five).everything();
    expect(said).toMatchObject({ keys: 5, bytes: 50, expiring: 0 });
    expect(said.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(await new Stores(...[...five].reverse()).everything()).toEqual(said);
    expect(await new Stores(...five.slice(1)).everything()).not.toEqual(said);
  });

  test.each([
    ['a value', put('b', 'value of B')],
    ['a key too many', put('bb', 'x')],
    ['a key too few', { is: 'deleted', key: 'b' } as const],
    ['an end that is not there', ending('b', 60_000)],
  ])('finds %s', async (_name, change) => {
    const stores = new Stores(...five);
    stores.target.tenantWrites(change);
    await expect(stores.everything()).rejects.toThrow(/differ in 1 keys, such as bb?$/);
  });

  test('accepts a key that has just expired in the target, and no other difference', async () => {
    const stores = new Stores(...five, ending('soon', 5000), ending('later', 60_000));
    expect(await stores.everything()).toMatchObject({ keys: 7, expiring: 2 });
    stores.target.tenantWrites({ is: 'deleted', key: 'soon' });
    expect(await stores.everything()).toMatchObject({ keys: 6 });
    stores.target.tenantWrites({ is: 'deleted', key: 'later' });
    await expect(stores.everything()).rejects.toThrow('later');
  });
});

describe('verifyChanges', () => {
  test('accepts equal changes, also of keys that were created and deleted', async () => {
    const stores = new Stores(...five);
    await stores.changes();
    stores.both(put('a', 'new'), { is: 'deleted', key: 'b' }, put('f', 'new'));
    stores.source.tenantWrites(put('g', 'short'), { is: 'deleted', key: 'g' });
    await stores.changes();
  });

  test.each([
    ['a change that did not arrive', put('a', 'new')],
    ['a key that did not arrive', put('new', 'new')],
    ['a deletion that did not arrive', { is: 'deleted', key: 'a' } as const],
  ])('finds %s', async (_name, change) => {
    const stores = new Stores(...five);
    stores.source.tenantWrites(change);
    await expect(stores.changes()).rejects.toThrow('differ');
  });

  test('finds an unexpected write', async () => {
    const stores = new Stores(...five);
    stores.target.tenantWrites(put('a', 'foreign'));
    await expect(stores.changes()).rejects.toThrow('differ in 1 keys, such as a');
  });

  test('accepts keys that expired in the target, up to the number that may expire', async () => {
    const stores = new Stores(...five, ending('soon', 5000));
    stores.target.tenantWrites({ is: 'deleted', key: 'soon' });
    await stores.changes(1);
    await expect(stores.changes(0)).rejects.toThrow('the numbers of keys in source and target differ by 1');
  });
});

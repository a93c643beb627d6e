import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { largestPage, longestPage } from '../tenancy-data.ts';
import type { StoredChange } from '../tenancy-data.ts';
import { contiguous, entryOf, lastChanges, lastOfEach, newRow } from './kine-changes.ts';
import { keyOf, nameOf } from './kine-keys.ts';
import { pagesOf } from './kine-pages.ts';
import type { KineHead, KineRow } from './kine-row.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const put = (key: string, value: string, ttlMs?: number): StoredChange => ({
  is: 'put',
  entry: { key, value: bytes(value), ttlMs },
});
const row = (over: Partial<KineRow>): KineRow => ({
  ...{ id: 7n, name: '/registry/a', created: true, deleted: false, createRevision: 0n, lease: 0, value: bytes('old') },
  ...over,
});
const head = (id: bigint, name = '/registry/a'): KineHead => ({ id, name, deleted: false, bytes: 1 });

describe('keyOf', () => {
  test('maps a tenant’s names to its keys, except kine’s own names and those that are not copied', () => {
    expect(keyOf(nameOf('pods/default/a'))).toBe('pods/default/a');
    expect(keyOf('/registry/healthz')).toBe('healthz');
    for (const name of [
      ...['compact_rev_key', 'compact_rev_key_apiserver', 'gap-7', '/registry/health', '/registry', '/other/a'],
      ...['/registry/masterleases/10.0.0.1', '/registry/peerserverleases/a'],
    ]) {
      expect(keyOf(name)).toBeUndefined();
    }
  });
});

describe('newRow', () => {
  const name = '/registry/a';

  test('creates a key that is not there, as kine does', () => {
    expect(newRow(name, put('a', 'new'), undefined)).toEqual({
      ...{ name, created: true, deleted: false, createRevision: 0n, prevRevision: 0n, lease: 0 },
      ...{ value: bytes('new'), oldValue: null },
    });
  });

  test('updates a key with its first revision and its last value', () => {
    const updated = { created: false, deleted: false, createRevision: 7n, prevRevision: 7n, oldValue: bytes('old') };
    expect(newRow(name, put('a', 'new'), row({}))).toMatchObject(updated);
    expect(newRow(name, put('a', 'new'), row({ id: 9n, created: false, createRevision: 7n }))).toMatchObject({
      ...updated,
      prevRevision: 9n,
    });
  });

  test('recreates a deleted key after its deletion', () => {
    const gone = row({ created: false, deleted: true, value: bytes('') });
    expect(newRow(name, put('a', 'new'), gone)).toMatchObject({ created: true, prevRevision: 7n, oldValue: null });
  });

  test('deletes only existing keys', () => {
    const deletion: StoredChange = { is: 'deleted', key: 'a' };
    expect(newRow(name, deletion, undefined)).toBeUndefined();
    expect(newRow(name, deletion, row({ deleted: true }))).toBeUndefined();
    expect(newRow(name, deletion, row({}))).toEqual({
      ...{ name, created: false, deleted: true, createRevision: 0n, prevRevision: 7n, lease: 0 },
      ...{ value: null, oldValue: bytes('old') },
    });
  });

  test('writes nothing for an unchanged key, unless its lease differs', () => {
    expect(newRow(name, put('a', 'old'), row({}))).toBeUndefined();
    expect(newRow(name, put('a', 'old', 60_000), row({ lease: 60 }))).toBeUndefined();
    expect(newRow(name, put('a', 'old', 60_000), row({}))).toMatchObject({ lease: 60 });
  });

  test('never makes a lease infinite or shorter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e7, noNaN: true }), (ttlMs) => {
        const made = newRow(name, put('a', 'x', ttlMs), undefined);
        expect(made?.lease).toBeGreaterThanOrEqual(1);
        expect((made?.lease ?? 0) * 1000).toBeGreaterThanOrEqual(ttlMs);
        expect((made?.lease ?? 0) * 1000).toBeLessThan(Math.max(ttlMs, 1) + 1000);
      }),
    );
  });

  test('writes rows that are read back unchanged', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), fc.option(fc.nat(1000)), (key, value, seconds) => {
        const entry = { key, value, ...(seconds !== null && { ttlMs: (seconds + 1) * 1000 }) };
        const made = newRow(nameOf(key), { is: 'put', entry }, undefined);
        const read = made && entryOf({ ...made, id: 1n, value: made.value ?? bytes('') });
        expect(read).toMatchObject({ value, ...(seconds !== null && { ttlMs: entry.ttlMs }) });
        if (keyOf(nameOf(key)) !== undefined) expect(read?.key).toBe(key);
      }),
    );
  });
});

describe('contiguous', () => {
  test('ends before the first id that is missing', () => {
    const heads = [8n, 9n, 11n].map((id) => head(id));
    expect(contiguous(7n, heads).map(({ id }) => id)).toEqual([8n, 9n]);
    expect(contiguous(6n, heads)).toEqual([]);
    expect(contiguous(7n, heads.slice(0, 2))).toHaveLength(2);
  });
});

describe('lastOfEach', () => {
  test('returns one head per name, in the order of the last ones, without kine’s own', () => {
    const heads = [head(1n, '/registry/a'), head(2n, '/registry/b'), head(3n, 'gap-3'), head(4n, '/registry/a')];
    expect(lastOfEach(heads).map(({ id }) => id)).toEqual([2n, 4n]);
  });

  test('returns one change per key, and none of keys that are not copied', () => {
    const changes = [put('a', '1'), put('b', '1'), put('health', 'x'), put('masterleases/x', 'x'), put('a', '2')];
    expect([...lastChanges(changes)]).toEqual([
      ['/registry/b', changes[1]],
      ['/registry/a', changes[4]],
    ]);
  });
});

describe('pagesOf', () => {
  test('loses nothing, keeps the order, and stays within both limits', () => {
    const sizes = fc.array(fc.oneof(fc.nat(10), fc.nat(2 * largestPage)), { maxLength: 3 * longestPage });
    fc.assert(
      fc.property(sizes, (items) => {
        const pages = [...pagesOf(items, (size) => size)];
        expect(pages.flat()).toEqual(items);
        for (const page of pages) {
          expect(page.length).toBeLessThanOrEqual(longestPage);
          const sum = page.reduce((total, size) => total + size, 0);
          expect(page.length === 1 || sum <= largestPage).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});

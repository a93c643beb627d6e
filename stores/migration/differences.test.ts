import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { largestPage, longestPage } from '../tenancy-data.ts';
import type { StoredEntry } from '../tenancy-data.ts';
import { compareKeys, differences } from './differences.ts';

type Content = Readonly<Record<string, string>>;

async function* paged(entries: readonly StoredEntry[], length: number): AsyncIterable<readonly StoredEntry[]> {
  for (let at = 0; at < entries.length; at += length) yield await Promise.resolve(entries.slice(at, at + length));
}

function entriesOf(content: Content): readonly StoredEntry[] {
  const keys = Object.keys(content).sort(compareKeys);
  return keys.map((key) => ({ key, value: Buffer.from(content[key] ?? '') }));
}

async function collected(source: AsyncIterable<readonly StoredEntry[]>, target: AsyncIterable<readonly StoredEntry[]>) {
  const batches = [];
  for await (const batch of differences(source, target)) batches.push(batch);
  return batches;
}

const none = (): AsyncIterable<readonly StoredEntry[]> => paged([], 1);

describe('differences', () => {
  test('returns exactly the changes that make the target equal to the source', async () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'a-', 'a0', 'b', 'ä', 'é', '日', '💥', '\uffff'),
      fc.string({ unit: 'binary' }),
    );
    const content = fc.dictionary(
      key.filter((text) => text !== '__proto__'),
      fc.constantFrom<string>('', 'x', 'y'),
      { maxKeys: 12 },
    );
    await fc.assert(
      fc.asyncProperty(content, content, fc.integer({ min: 1, max: 4 }), async (source, target, length) => {
        const batches = await collected(paged(entriesOf(source), length), paged(entriesOf(target), length));
        const result = new Map(Object.entries(target));
        const changed = new Set<string>();
        for (const change of batches.flatMap(({ changes }) => changes)) {
          const name = change.is === 'put' ? change.entry.key : change.key;
          changed.add(name);
          if (change.is === 'put') result.set(name, Buffer.from(change.entry.value).toString());
          else result.delete(name);
        }
        expect([...result].sort()).toEqual(Object.entries(source).sort());
        for (const name of changed) expect(source[name] === target[name]).toBe(false);
        const keys = new Set([...Object.keys(source), ...Object.keys(target)]);
        expect(batches.flatMap(({ pairs }) => pairs)).toHaveLength(keys.size);
      }),
    );
  });

  test('ignores how long a time to live is, but not whether there is one', async () => {
    const entry = (ttlMs?: number): StoredEntry => ({ key: 'a', value: Buffer.from('x'), ttlMs });
    const changes = async (source: StoredEntry, target: StoredEntry) =>
      (await collected(paged([source], 1), paged([target], 1))).flatMap((batch) => batch.changes);
    expect(await changes(entry(5000), entry(4000))).toEqual([]);
    expect(await changes(entry(), entry(4000))).toEqual([{ is: 'put', entry: entry() }]);
    expect(await changes(entry(5000), entry())).toEqual([{ is: 'put', entry: entry(5000) }]);
  });

  test('returns the changes in bounded parts', async () => {
    const large = Array.from({ length: 9 }, (_, index) => ({
      key: String(index),
      value: Buffer.alloc(largestPage / 2),
    }));
    expect((await collected(paged(large, 2), none())).map(({ changes }) => changes.length)).toEqual([2, 2, 2, 2, 1]);
    const many = Array.from({ length: longestPage + 1 }, (_, index) => ({
      key: String(index).padStart(6, '0'),
      value: Buffer.from('x'),
    }));
    expect((await collected(none(), paged(many, 100))).map(({ changes }) => changes.length)).toEqual([longestPage, 1]);
  });

  test('ends with the error of either side, and closes the other', async () => {
    let closed = 0;
    async function* endless(): AsyncIterable<readonly StoredEntry[]> {
      try {
        for (let at = 0; ; at += 1)
          yield await Promise.resolve([{ key: String(at).padStart(9, '0'), value: Buffer.alloc(1) }]);
      } finally {
        closed += 1;
      }
    }
    async function* failing(): AsyncIterable<readonly StoredEntry[]> {
      yield await Promise.resolve([{ key: '000000001', value: Buffer.alloc(1) }]);
      throw new Error('gone');
    }
    await expect(collected(endless(), failing())).rejects.toThrow('gone');
    await expect(collected(failing(), endless())).rejects.toThrow('gone');
    expect(closed).toBe(2);
  });
});

describe('compareKeys', () => {
  test('orders by bytes of UTF-8, unlike JavaScript', () => {
    expect(['\uffff', '💥'].sort(compareKeys)).toEqual(['\uffff', '💥']);
    expect(['\uffff', '💥'].sort()).toEqual(['💥', '\uffff']);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { largestPage } from '../tenancy-data.ts';
import type { StoredEntry } from '../tenancy-data.ts';
import { chunksOf } from './chunks.ts';

async function* paged(entries: readonly StoredEntry[], size: number): AsyncIterable<readonly StoredEntry[]> {
  for (let at = 0; at < entries.length; at += size) yield await Promise.resolve(entries.slice(at, at + size));
}

const chunked = async (entries: readonly StoredEntry[], size = 1000): Promise<readonly (readonly StoredEntry[])[]> => {
  const chunks: (readonly StoredEntry[])[] = [];
  for await (const chunk of chunksOf(paged(entries, size))) chunks.push(chunk);
  return chunks;
};

const entry = (index: number, bytes = 10): StoredEntry => {
  return { key: `pods/${String(index).padStart(8, '0')}`, value: Buffer.alloc(bytes) };
};
const many = (count: number): readonly StoredEntry[] => Array.from({ length: count }, (_, index) => entry(index));

/** Chunks as text, to compare them. */
const texts = (chunks: readonly (readonly StoredEntry[])[]): readonly string[] =>
  chunks.map((chunk) => chunk.map(({ key }) => key).join());

describe('chunks', () => {
  test('have every entry once, in order, whatever the pages are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(2000), fc.integer({ min: 1, max: 500 }), async (count, size) => {
        const chunks = await chunked(many(count), size);
        expect(chunks.flat()).toEqual(many(count));
        expect(texts(chunks)).toEqual(texts(await chunked(many(count))));
        expect(chunks.every((chunk) => chunk.length > 0 && chunk.length <= 1024)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  test('are the same but for few when an entry is added or removed anywhere', async () => {
    const before = new Set(texts(await chunked(many(5000))));
    for (const at of [0, 1234, 4999]) {
      const fewer = texts(await chunked(many(5000).toSpliced(at, 1)));
      expect(fewer.filter((chunk) => !before.has(chunk)).length).toBeLessThanOrEqual(2);
      const more = texts(await chunked(many(5000).toSpliced(at, 0, { ...entry(at), key: `${entry(at).key}a` })));
      expect(more.filter((chunk) => !before.has(chunk)).length).toBeLessThanOrEqual(2);
    }
  });

  test('end after 1,024 entries where no key ends them', async () => {
    const ends = (await chunked(many(20_000))).flatMap((chunk) => chunk.slice(0, -1));
    const chunks = await chunked(ends);
    expect(chunks.slice(0, -1).map(({ length }) => length)).toEqual(
      Array.from({ length: chunks.length - 1 }, () => 1024),
    );
    expect(chunks.length).toBeGreaterThan(10);
  });

  test('are not larger than a page, unless it is a single entry', async () => {
    const large = Array.from({ length: 40 }, (_, index) => entry(index, index === 20 ? largestPage * 2 : 300_000));
    for (const chunk of await chunked(large)) {
      const bytes = chunk.reduce((sum, { value }) => sum + value.length, 0);
      expect(chunk.length === 1 || bytes <= largestPage).toBe(true);
    }
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { largestPage, longestPage } from '../../tenancy-data.ts';
import { TooLargeError } from './data-client.ts';
import type { EtcdDataCalls, EtcdEntry } from './data-client.ts';
import { etcdPages } from './pages.ts';
import { tenancyRange } from '../range.ts';

const largestAnswer = 16 * 1024 * 1024;

/** An etcd that holds entries, in order, and gives no answer larger than a client takes. */
function holding(entries: readonly EtcdEntry[], asked: number[] = []): Pick<EtcdDataCalls, 'page'> {
  return {
    page: ({ start }, _revision, limit) => {
      asked.push(limit);
      const left = entries.filter(({ key }) => Buffer.compare(key, start) >= 0);
      const page = left.slice(0, limit);
      const bytes = page.reduce((sum, { value }) => sum + value.length, 0);
      if (bytes > largestAnswer) return Promise.reject(new TooLargeError('message larger than max'));
      return Promise.resolve({ entries: page, more: left.length > page.length });
    },
  };
}

const entry = (index: number, size: number): EtcdEntry => ({
  key: Buffer.from(`/a/${String(index).padStart(6, '0')}`),
  value: Buffer.alloc(size),
});

async function read(client: Pick<EtcdDataCalls, 'page'>): Promise<readonly (readonly EtcdEntry[])[]> {
  const pages: (readonly EtcdEntry[])[] = [];
  for await (const page of etcdPages(client, tenancyRange('a'), 1n)) pages.push(page);
  return pages;
}

describe('etcdPages', () => {
  test('returns every key once and in order, in bounded pages, for any sizes', async () => {
    const sizes = fc.array(fc.constantFrom(0, 10, 3000, 1_500_000), { maxLength: 150 });
    await fc.assert(
      fc.asyncProperty(sizes, async (all) => {
        const entries = all.map((size, index) => entry(index, size));
        const pages = await read(holding(entries));
        expect(pages.flat()).toEqual(entries);
        for (const page of pages) {
          expect(page.length).toBeLessThanOrEqual(longestPage);
          const bytes = page.reduce((sum, { value }) => sum + value.length, 0);
          if (page.length > 1) expect(bytes).toBeLessThanOrEqual(largestPage);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('requests more keys when they are small and fewer when they are large', async () => {
    const asked: number[] = [];
    await read(holding([...Array.from({ length: 3000 }, (_, index) => entry(index, 100))], asked));
    expect(Math.max(...asked)).toBe(longestPage);
    asked.length = 0;
    await read(holding([...Array.from({ length: 300 }, (_, index) => entry(index, 500_000))], asked));
    expect(asked.at(-1)).toBeLessThanOrEqual(2);
  });

  test('throws when a single key is too large for the client', async () => {
    await expect(read(holding([entry(0, largestAnswer + 1)]))).rejects.toBeInstanceOf(TooLargeError);
  });
});

import { largestPage, longestPage } from '../../tenancy-data.ts';
import { TooLargeError } from './data-client.ts';
import type { EtcdDataCalls, EtcdEntry, EtcdPage } from './data-client.ts';
import type { KeyRange } from '../range.ts';

/** In place of a revision: each page as it is when it is read. Such pages are never compacted. */
export const newestRevision = 0n;

const firstLimit = 64;

/**
 * The keys of a range at a revision, in order, in pages. etcd limits an answer by number of keys and not by bytes, so the requested number
 * follows the size of the last keys. Throws `CompactedError` and `StoreError`.
 */
export async function* etcdPages(
  client: Pick<EtcdDataCalls, 'page'>,
  range: KeyRange,
  revision: bigint,
): AsyncIterable<readonly EtcdEntry[]> {
  let limit = firstLimit;
  let start = range.start;
  for (;;) {
    let page: EtcdPage;
    try {
      page = await client.page({ start, end: range.end }, revision, limit);
    } catch (error) {
      if (!(error instanceof TooLargeError) || limit === 1) throw error;
      limit = Math.max(1, limit >> 3);
      continue;
    }
    yield* bounded(page.entries);
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return;
    start = after(last.key);
    limit = nextLimit(limit, page.entries);
  }
}

/** The first key after this one. */
function after(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}

/** Aims at half a page if the next keys are as large as these, with at most four times as many keys as before. */
export function nextLimit(limit: number, entries: readonly EtcdEntry[]): number {
  const average = bytesOf(entries) / Math.max(1, entries.length);
  const fitting = Math.floor(largestPage / 2 / Math.max(1, average));
  return Math.max(1, Math.min(longestPage, 4 * limit, fitting));
}

function bytesOf(entries: readonly EtcdEntry[]): number {
  return entries.reduce((sum, { value }) => sum + value.length, 0);
}

/** Cuts what came in one answer into pages. */
function* bounded(entries: readonly EtcdEntry[]): Iterable<readonly EtcdEntry[]> {
  let page: EtcdEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (page.length > 0 && (page.length === longestPage || bytes + entry.value.length > largestPage)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(entry);
    bytes += entry.value.length;
  }
  if (page.length > 0) yield page;
}

import { createHash } from 'node:crypto';
import { largestPage } from '../tenancy-data.ts';
import type { StoredEntry } from '../tenancy-data.ts';

/** One in so many keys ends a chunk. */
const usualEntries = 128;

/** Most entries of a chunk. */
const mostEntries = 1024;

/**
 * Groups sorted entries into chunks. Mostly the key decides where a chunk ends, so that a change of one object changes one chunk only:
 * the next backup finds all others in the repository. No chunk has more than 1,024 entries or, unless it is a single one, more than
 * 2 MiB of values.
 */
export async function* chunksOf(pages: AsyncIterable<readonly StoredEntry[]>): AsyncIterable<readonly StoredEntry[]> {
  let chunk: StoredEntry[] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const entry of page) {
      if (chunk.length > 0 && bytes + entry.value.length > largestPage) {
        yield chunk;
        [chunk, bytes] = [[], 0];
      }
      chunk.push(entry);
      bytes += entry.value.length;
      if (chunk.length < mostEntries && !endsChunk(entry.key)) continue;
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
  }
  if (chunk.length > 0) yield chunk;
}

function endsChunk(key: string): boolean {
  return createHash('sha256').update(key).digest().readUInt32BE() % usualEntries === 0;
}

import { largestPage, longestPage } from '../tenancy-data.ts';
import type { StoredChange, StoredEntry } from '../tenancy-data.ts';

/** One key in both datastores; undefined where it does not exist. */
export interface Pair {
  readonly source: StoredEntry | undefined;
  readonly target: StoredEntry | undefined;
}

/** A sequence of keys and the changes that it needs. */
export interface Differences {
  /** What makes the target equal to the source. */
  readonly changes: readonly StoredChange[];
  readonly pairs: readonly Pair[];
}

/** Walks pages entry by entry and prefetches the next page. */
class Cursor {
  readonly #pages: AsyncIterator<readonly StoredEntry[]>;
  #page: readonly StoredEntry[] = [];
  #at = 0;
  #ahead: Promise<IteratorResult<readonly StoredEntry[]>>;

  constructor(pages: AsyncIterable<readonly StoredEntry[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
    this.#ahead = this.#fetch();
  }

  /** The entry that is next; undefined at the end. */
  async peek(): Promise<StoredEntry | undefined> {
    while (this.#at >= this.#page.length) {
      const next = await this.#ahead;
      if (next.done === true) return undefined;
      [this.#page, this.#at] = [next.value, 0];
      this.#ahead = this.#fetch();
    }
    return this.#page[this.#at];
  }

  skip(): void {
    this.#at += 1;
  }

  async close(): Promise<void> {
    await this.#pages.return?.();
  }

  #fetch(): Promise<IteratorResult<readonly StoredEntry[]>> {
    const next = this.#pages.next();
    // The failure is thrown when this page is reached; until then it must not be an unhandled rejection.
    next.catch(() => undefined);
    return next;
  }
}

/** Below, equal or above by the bytes of UTF-8. */
export function compareKeys(left: string, right: string): number {
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function isSame({ source, target }: Pair): boolean {
  if (source === undefined || target === undefined) return false;
  return (
    Buffer.compare(source.value, target.value) === 0 && (source.ttlMs === undefined) === (target.ttlMs === undefined)
  );
}

function changeFor({ source, target }: Pair): StoredChange | undefined {
  if (source !== undefined) return { is: 'put', entry: source };
  return target === undefined ? undefined : { is: 'deleted', key: target.key };
}

/**
 * Compares two datastores whose pages are sorted by key, with two pages of each in memory. Any two times to live count as equal, because
 * they count down. Throws what the pages throw.
 */
export async function* differences(
  source: AsyncIterable<readonly StoredEntry[]>,
  target: AsyncIterable<readonly StoredEntry[]>,
): AsyncIterable<Differences> {
  const [left, right] = [new Cursor(source), new Cursor(target)];
  let changes: StoredChange[] = [];
  let pairs: Pair[] = [];
  let bytes = 0;
  try {
    for (let pair = await nextPair(left, right); pair !== undefined; pair = await nextPair(left, right)) {
      const change = isSame(pair) ? undefined : changeFor(pair);
      if (change !== undefined) changes.push(change);
      pairs.push(pair);
      bytes += (pair.source ?? pair.target)?.value.length ?? 0;
      if (pairs.length < longestPage && bytes < largestPage) continue;
      yield { changes, pairs };
      [changes, pairs, bytes] = [[], [], 0];
    }
    if (pairs.length > 0) yield { changes, pairs };
  } finally {
    await left.close();
    await right.close();
  }
}

async function nextPair(left: Cursor, right: Cursor): Promise<Pair | undefined> {
  const [source, target] = [await left.peek(), await right.peek()];
  if (source === undefined && target === undefined) return undefined;
  const order = source === undefined ? 1 : target === undefined ? -1 : compareKeys(source.key, target.key);
  if (order <= 0) left.skip();
  if (order >= 0) right.skip();
  return { source: order <= 0 ? source : undefined, target: order >= 0 ? target : undefined };
}

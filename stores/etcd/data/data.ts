import { StoreError } from '../../store-error.ts';
import { isCopied } from '../../tenancy-data.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../../tenancy-data.ts';
import { EtcdChangeFeed } from './changes.ts';
import type { EtcdCalls } from '../client.ts';
import { LeaseGoneError } from './data-client.ts';
import type { EtcdEntry, EtcdOperation } from './data-client.ts';
import { openFence, putUpFence, takeDownFence } from './fence.ts';
import { EtcdLeases } from './leases.ts';
import { etcdPages } from './pages.ts';
import { raiseRevision } from './bump-revision.ts';
import { tenancyRange, uncopiedRanges } from '../range.ts';
import { EtcdWriter } from './writer.ts';

/** Written to raise the revision; out of every tenant's reach. */
const raisedKey = Buffer.from('steward.butlerlabs.dev/raised');

/** Operations of a transaction and its bytes: below etcd's defaults, 128 and 1.5 MiB. */
const longestTransaction = 100;
const largestTransaction = 512 * 1024;

/** Transactions under way at once. */
const width = 4;

/** The keys of one tenancy in etcd, accessed as administrator. The caller owns the connection. */
export class EtcdData implements TenancyData {
  readonly #client: EtcdCalls;
  readonly #schema: string;
  readonly #root: Buffer;
  readonly #feed: EtcdChangeFeed;
  readonly #leases: EtcdLeases;
  readonly #writer: EtcdWriter;

  constructor(client: EtcdCalls, schema: string) {
    this.#client = client;
    this.#schema = schema;
    this.#root = tenancyRange(schema).start;
    this.#feed = new EtcdChangeFeed(client.data, tenancyRange(schema));
    this.#leases = new EtcdLeases(client.data);
    this.#writer = new EtcdWriter(client, schema);
  }

  async revision(): Promise<bigint> {
    return (await this.#client.data.count(tenancyRange(this.#schema))).revision;
  }

  async count(): Promise<number> {
    let total = (await this.#client.data.count(tenancyRange(this.#schema))).count;
    for (const range of uncopiedRanges(this.#schema)) total -= (await this.#client.data.count(range)).count;
    return total;
  }

  async *pages(revision: bigint): AsyncIterable<readonly StoredEntry[]> {
    for await (const page of etcdPages(this.#client.data, tenancyRange(this.#schema), revision)) {
      const entries: StoredEntry[] = [];
      for (const entry of page) {
        const key = this.#relative(entry.key);
        if (isCopied(key)) entries.push(await this.#stored(key, entry));
      }
      if (entries.length > 0) yield entries;
    }
  }

  async changes(after: bigint, through?: bigint): ReturnType<TenancyData['changes']> {
    const page = await this.#feed.since(after, through);
    const changes: StoredChange[] = [];
    for (const change of page.changes) {
      const key = this.#relative(change.is === 'put' ? change.entry.key : change.key);
      if (!isCopied(key)) continue;
      changes.push(
        change.is === 'put' ? { is: 'put', entry: await this.#stored(key, change.entry) } : { is: 'deleted', key },
      );
    }
    return { changes, revision: page.revision };
  }

  async beginWrites(): Promise<void> {
    await this.#writer.begin();
  }

  async write(changes: readonly StoredChange[]): Promise<void> {
    // The last change of a key is what counts, and a transaction takes a key but once.
    const last = new Map(changes.map((change) => [change.is === 'put' ? change.entry.key : change.key, change]));
    const batches = transactions([...last.values()]);
    const work = async (): Promise<void> => {
      for (let batch = batches.next(); batch.done !== true; batch = batches.next()) await this.#commit(batch.value);
    };
    await Promise.all(Array.from({ length: width }, work));
  }

  async endWrites(): Promise<void> {
    await this.#writer.end();
  }

  async raise(revision: bigint, onProgress?: (reached: bigint) => void): Promise<void> {
    const span = { from: await this.revision(), wanted: revision };
    const size = async (): Promise<number> => {
      const sizes = (await this.#client.members()).map((answer) => ('sizeBytes' in answer ? answer.sizeBytes : 0));
      return Math.max(...sizes);
    };
    await raiseRevision({ data: this.#client.data, size }, raisedKey, span, onProgress);
  }

  async fence(): Promise<void> {
    await putUpFence(this.#client, this.#schema);
  }

  async openUncopied(): Promise<void> {
    await openFence(this.#client, this.#schema);
  }

  async unfence(): Promise<void> {
    await takeDownFence(this.#client, this.#schema);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#feed[Symbol.asyncDispose]();
  }

  /** The key below the tenant's root. */
  #relative(key: Buffer): string {
    const text = key.toString('utf8', this.#root.length);
    if (
      Buffer.byteLength(text) !== key.length - this.#root.length ||
      !Buffer.from(text).equals(key.subarray(this.#root.length))
    ) {
      throw new StoreError(
        'Failed',
        `etcd contains a key that is not UTF-8 and not from an API server: ${key.toString('hex')}`,
      );
    }
    return text;
  }

  async #stored(key: string, { value, lease }: EtcdEntry): Promise<StoredEntry> {
    return lease === undefined ? { key, value } : { key, value, ttlMs: await this.#leases.left(lease) };
  }

  async #commit(changes: readonly StoredChange[]): Promise<void> {
    try {
      await this.#writer.write(await this.#operations(changes));
    } catch (error) {
      if (!(error instanceof LeaseGoneError)) throw error;
      this.#leases.forget();
      await this.#writer.write(await this.#operations(changes));
    }
  }

  async #operations(changes: readonly StoredChange[]): Promise<readonly EtcdOperation[]> {
    const operations: EtcdOperation[] = [];
    for (const change of changes) {
      if (change.is === 'deleted') {
        operations.push({ is: 'delete', key: this.#absolute(change.key) });
        continue;
      }
      const { key, value, ttlMs } = change.entry;
      const lease = ttlMs === undefined ? {} : { lease: await this.#leases.granted(ttlMs) };
      operations.push({ is: 'put', entry: { key: this.#absolute(key), value: Buffer.from(value), ...lease } });
    }
    return operations;
  }

  #absolute(key: string): Buffer {
    return Buffer.concat([this.#root, Buffer.from(key)]);
  }
}

/** Groups of changes that fit a transaction. */
function* transactions(changes: readonly StoredChange[]): Iterator<readonly StoredChange[], undefined> {
  let group: StoredChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = change.is === 'put' ? change.entry.value.length + change.entry.key.length : change.key.length;
    if (group.length > 0 && (group.length === longestTransaction || bytes + size > largestTransaction)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(change);
    bytes += size;
  }
  if (group.length > 0) yield group;
  return undefined;
}

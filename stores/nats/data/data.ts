import { CompactedError, isCopied, largestPage, longestPage } from '../../tenancy-data.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../../tenancy-data.ts';
import { StoreError } from '../../store-error.ts';
import { bucketStreamName } from './bucket.ts';
import { untilQuiet } from './bucket-fence.ts';
import type { BucketFence } from './bucket-fence.ts';
import { bucketPages, entryOf } from './bucket-pages.ts';
import { BucketWriter } from './bucket-writer.ts';
import { readBucket } from '../ensure-bucket.ts';
import { decodeEntry } from './kine-entry.ts';
import { entrySubjects, keyOfSubject } from './kine-keys.ts';
import type { NatsClient } from '../client.ts';
import { withStoreErrors } from '../errors.ts';
import { raiseSequence } from './bump-sequence.ts';
import { CorruptValueError } from './s2-block.ts';
import { readStream } from './stream-reader.ts';
import type { StreamMessage } from './stream-reader.ts';

/**
 * The keys of one tenancy in its bucket, as kine v0.16 keeps them there; revisions are sequence numbers of its stream. The last
 * change of a key is kept for ever, so changes are never compacted; of older versions there are ten.
 *
 * kine ends a key by its time to live only if that same process wrote it (its ExpireWatcher is fed by its own writes alone): a
 * key with a time to live that is written here, or whose kine was restarted, stays until it is written again or deleted.
 */
export class NatsData implements TenancyData {
  readonly #client: NatsClient;
  readonly #bucket: string;
  readonly #fence: BucketFence;
  readonly #owned: boolean;
  readonly #writer: BucketWriter;

  /** `owned`: the client is disposed of with the data. */
  constructor(client: NatsClient, bucket: string, fence: BucketFence, owned: boolean) {
    this.#client = client;
    this.#bucket = bucket;
    this.#fence = fence;
    this.#owned = owned;
    this.#writer = new BucketWriter(client, bucket);
  }

  async revision(): Promise<bigint> {
    return this.#run('read the revision', async () => BigInt(await this.#lastSequence()));
  }

  async count(): Promise<number> {
    return this.#run('count keys', () => this.#writer.count());
  }

  async *pages(revision: bigint): AsyncGenerator<readonly StoredEntry[]> {
    await this.#requireReached(revision);
    try {
      yield* bucketPages(this.#client, this.#bucket, Number(revision));
    } catch (error) {
      throw explained(this.#bucket, error);
    }
  }

  async changes(after: bigint, through?: bigint): ReturnType<TenancyData['changes']> {
    return this.#run('read changes', async () => {
      let revision = await this.#requireReached(after);
      const last = new Map<string, StoredChange>();
      let size = 0;
      for await (const message of this.#readFrom(Number(after) + 1)) {
        if (through !== undefined && message.seq > through) return { changes: [...last.values()], revision: through };
        const change = this.#changeOf(message);
        const bytes = change?.is === 'put' ? change.entry.value.length : 0;
        if (last.size === longestPage || (last.size > 0 && size + bytes > largestPage)) {
          return { changes: [...last.values()], revision: BigInt(message.seq - 1) };
        }
        revision = Math.max(revision, message.seq);
        if (change === undefined) continue;
        const key = change.is === 'put' ? change.entry.key : change.key;
        last.delete(key);
        last.set(key, change);
        size += bytes;
      }
      return { changes: [...last.values()], revision: BigInt(revision) };
    });
  }

  async beginWrites(): Promise<void> {
    await this.#run('begin to write', () => this.#writer.begin());
  }

  async write(changes: readonly StoredChange[]): Promise<void> {
    await this.#run('write changes', () => this.#writer.write(changes));
  }

  async endWrites(): Promise<void> {
    await this.#run('end all writes', () => this.#writer.end());
  }

  async raise(revision: bigint, onProgress?: (reached: bigint) => void): Promise<void> {
    await this.#run('raise the revision', () =>
      raiseSequence(this.#client, this.#bucket, Number(revision), onProgress),
    );
  }

  async fence(): Promise<void> {
    await this.#run('block the writes', async () => {
      await this.#fence.up();
      await untilQuiet(this.#client, this.#bucket);
    });
  }

  async unfence(): Promise<void> {
    await this.#run('unblock the writes', () => this.#fence.down());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned) await this.#client[Symbol.asyncDispose]();
  }

  #readFrom(from: number): AsyncIterable<StreamMessage> {
    const [stream, filter] = [bucketStreamName(this.#bucket), entrySubjects(this.#bucket)];
    return readStream(this.#client, { stream, filter, from });
  }

  #changeOf(message: StreamMessage): StoredChange | undefined {
    const key = keyOfSubject(this.#bucket, message.subject);
    if (key === undefined || !isCopied(key)) return undefined;
    if (message.isMark) return { is: 'deleted', key };
    const entry = decodeEntry(message.data);
    if (entry.is === 'deleted') return { is: 'deleted', key };
    return { is: 'put', entry: entryOf(key, entry, message.storedAt) };
  }

  async #lastSequence(): Promise<number> {
    const info = await readBucket(this.#client, this.#bucket);
    if (info !== undefined) return info.state.last_seq;
    throw new StoreError('Failed', `there is no bucket ${this.#bucket} in NATS: it must be created first`);
  }

  /** A bucket that never had the revision was recreated. */
  async #requireReached(revision: bigint): Promise<number> {
    const last = await this.#lastSequence();
    if (revision <= BigInt(last)) return last;
    throw new CompactedError(`bucket ${this.#bucket} is at revision ${last}: recreated after revision ${revision}`);
  }

  async #run<T>(attempt: string, work: () => Promise<T>): Promise<T> {
    try {
      return await withStoreErrors(`${attempt} of bucket ${this.#bucket}`, work);
    } catch (error) {
      throw explained(this.#bucket, error);
    }
  }
}

function explained(bucket: string, error: unknown): unknown {
  if (!(error instanceof CorruptValueError)) return error;
  const text = `a key of bucket ${bucket} is not in kine's format: ${error.message}`;
  return new StoreError('Failed', text, { cause: error });
}

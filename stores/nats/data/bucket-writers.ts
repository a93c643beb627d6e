import { randomBytes } from 'node:crypto';
import { StoreError } from '../../store-error.ts';
import type { NatsClient } from '../client.ts';
import { readBucket } from '../ensure-bucket.ts';
import type { StreamInfo } from '../ensure-bucket.ts';
import { isRefusal } from '../errors.ts';
import { onceSettled } from '../retry-until-propagated.ts';
import { bucketStream, bucketStreamName, bucketSubject, fencedStream, writerSubject, writtenStream } from './bucket.ts';
import type { BucketStream } from './bucket.ts';
import { untilQuiet } from './bucket-fence.ts';

/** More than any sequence number. */
const never = Number.MAX_SAFE_INTEGER;

/**
 * Who may write to a bucket beside its tenant. A writer publishes to subjects with its token, which the stream takes and stores under those of
 * the bucket. The next writer, and the end of all writes, take these subjects from the stream: a message that arrives afterwards is
 * stored nowhere.
 */
export class BucketWriters {
  readonly #client: NatsClient;
  readonly #bucket: string;

  constructor(client: NatsClient, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /** Ends the writes of others; returns the token of the new writer. */
  async begin(): Promise<string> {
    await this.end();
    const token = randomBytes(12).toString('hex');
    await this.#update(writtenStream(this.#unwritten(await this.#read()), this.#bucket, token));
    // In a cluster, servers learn of the subject a moment later. A message that is refused has no effect.
    await onceSettled(() => this.#reach(token));
    return token;
  }

  /** Ends all writes: first the stream refuses whatever comes, so that nothing is under way when it loses their subjects. */
  async end(): Promise<void> {
    const info = await this.#read();
    if (!isWritten(info)) return;
    const unwritten = this.#unwritten(info);
    const { subjects, subject_transform } = info.config;
    await this.#update({ ...unwritten, subjects, subject_transform, max_msg_size: 1 });
    await untilQuiet(this.#client, this.#bucket);
    await this.#update(unwritten);
  }

  async #reach(token: string): Promise<void> {
    const subject = writerSubject(this.#bucket, token, bucketSubject(this.#bucket, 'steward'));
    try {
      await this.#client.store(`reach bucket ${this.#bucket}`, subject, '', { last: never });
    } catch (error) {
      if (!isRefusal(error, 'wrongLast')) throw error;
    }
  }

  /** The stream without writers: fenced if it is. */
  #unwritten({ config }: StreamInfo): BucketStream {
    const replicas = Number(config.num_replicas);
    const fenced = fencedStream(this.#bucket, replicas);
    const isFenced = Array.isArray(config.subjects) && config.subjects.includes(fenced.subjects[0]);
    return isFenced ? fenced : bucketStream(this.#bucket, replicas);
  }

  async #read(): Promise<StreamInfo> {
    const info = await readBucket(this.#client, this.#bucket);
    if (info !== undefined) return info;
    throw new StoreError('Failed', `there is no bucket ${this.#bucket} in NATS: it must be created first`);
  }

  async #update(stream: object): Promise<void> {
    await this.#client.api(`update bucket ${this.#bucket}`, `STREAM.UPDATE.${bucketStreamName(this.#bucket)}`, stream);
  }
}

function isWritten({ config }: StreamInfo): boolean {
  return Array.isArray(config.subjects) && config.subjects.length > 1;
}

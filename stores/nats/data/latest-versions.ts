import { createHash } from 'node:crypto';
import { isCopied } from '../../tenancy-data.ts';
import { bucketStreamName } from './bucket.ts';
import { decodeEntry } from './kine-entry.ts';
import { entrySubjects, keyOfSubject } from './kine-keys.ts';
import type { NatsClient } from '../client.ts';
import { readStream } from './stream-reader.ts';
import type { StreamMessage } from './stream-reader.ts';

/** The last version of a key in a bucket, without its value. */
export interface Latest {
  readonly seq: number;
  /** Absent when the key is gone. */
  readonly live?: { readonly lease: number; readonly createRevision: number; readonly digest: string };
}

/** SHA-256 of a value. */
export function digestOf(value: Uint8Array): string {
  return createHash('sha256').update(value).digest('base64');
}

/** The last versions of all keys, so that a write need not read the previous one. */
export class LatestVersions {
  readonly #client: NatsClient;
  readonly #bucket: string;
  readonly #known = new Map<string, Latest>();
  /** Everything up to this sequence is known. */
  #seen = 0;
  #ownCount = 0;
  #ownHighest = 0;

  constructor(client: NatsClient, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /** Reads what others have written since. */
  async refresh(): Promise<void> {
    // What is ours without a gap is known already.
    if (this.#ownHighest - this.#seen === this.#ownCount) this.#seen = Math.max(this.#seen, this.#ownHighest);
    this.#ownCount = 0;
    this.#ownHighest = this.#seen;
    const what = this.#seen === 0 ? { last: true } : { from: this.#seen + 1 };
    const request = { stream: bucketStreamName(this.#bucket), filter: entrySubjects(this.#bucket), ...what };
    for await (const message of readStream(this.#client, request)) {
      this.#seen = Math.max(this.#seen, message.seq);
      const key = keyOfSubject(this.#bucket, message.subject);
      if (key !== undefined && isCopied(key)) this.#known.set(message.subject, latestOf(message));
    }
    this.#ownHighest = this.#seen;
  }

  /** How many keys there are. */
  get count(): number {
    let count = 0;
    for (const { live } of this.#known.values()) if (live !== undefined) count += 1;
    return count;
  }

  get(subject: string): Latest {
    return this.#known.get(subject) ?? { seq: 0 };
  }

  /** Records one of our own writes; every one must be recorded. */
  set(subject: string, latest: Latest): void {
    this.#known.set(subject, latest);
    this.#ownCount += 1;
    this.#ownHighest = Math.max(this.#ownHighest, latest.seq);
  }
}

function latestOf({ seq, isMark, data }: StreamMessage): Latest {
  if (isMark) return { seq };
  const { is, lease, createRevision, value } = decodeEntry(data);
  if (is === 'deleted') return { seq };
  return { seq, live: { lease, createRevision: createRevision === 0 ? seq : createRevision, digest: digestOf(value) } };
}

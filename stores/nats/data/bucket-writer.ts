import { isCopied } from '../../tenancy-data.ts';
import type { StoredChange, StoredEntry } from '../../tenancy-data.ts';
import { endedWritesError } from '../../ended-writes-error.ts';
import { isUnanswered } from '../errors.ts';
import { writerSubject } from './bucket.ts';
import { BucketWriters } from './bucket-writers.ts';
import { encodeEntry } from './kine-entry.ts';
import { entrySubject } from './kine-keys.ts';
import { digestOf, LatestVersions } from './latest-versions.ts';
import type { Latest } from './latest-versions.ts';
import type { NatsClient, StoreOptions } from '../client.ts';

/** Changes under way at once. */
const width = 128;

const nothing = new Uint8Array();

/** Writes into a bucket as kine does; unchanged keys are skipped. */
export class BucketWriter {
  readonly #client: NatsClient;
  readonly #bucket: string;
  readonly #latest: LatestVersions;
  readonly #writers: BucketWriters;
  #token: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: NatsClient, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
    this.#latest = new LatestVersions(client, bucket);
    this.#writers = new BucketWriters(client, bucket);
  }

  /** Ends the writes of others, and lets this one write. */
  async begin(): Promise<void> {
    this.#token = await this.#writers.begin();
  }

  /** Ends all writes. */
  async end(): Promise<void> {
    this.#token = undefined;
    await this.#writers.end();
  }

  /** Applies the last change of each key. Fails when another client writes the same key meanwhile. */
  async write(changes: readonly StoredChange[]): Promise<void> {
    const last = [...lastOfEach(changes)];
    if (last.length === 0) return;
    await this.#alone(async () => {
      await this.#latest.refresh();
      await this.#applyAll(last);
    });
  }

  /** The number of keys; reads what was written since the last call. */
  async count(): Promise<number> {
    return this.#alone(async () => {
      await this.#latest.refresh();
      return this.#latest.count;
    });
  }

  /** One after the other: what is known must not change under a write. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** A new change is sent whenever one is answered: NATS stores some while others are encoded. None is begun after a failure. */
  async #applyAll(changes: readonly (readonly [string, StoredChange])[]): Promise<void> {
    const left = changes.values();
    const failures: unknown[] = [];
    const inTurn = async (): Promise<void> => {
      for (const [key, change] of left) {
        if (failures.length > 0) return;
        await this.#apply(key, change).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: Math.min(width, changes.length) }, inTurn));
    if (failures.length > 0) throw failures[0];
  }

  async #apply(key: string, change: StoredChange): Promise<void> {
    const subject = entrySubject(this.#bucket, key);
    const latest = this.#latest.get(subject);
    if (change.is === 'put') await this.#put(subject, latest, change.entry);
    else if (latest.live !== undefined) await this.#delete(subject, latest.seq, key);
  }

  async #put(subject: string, latest: Latest, { key, value, ttlMs }: StoredEntry): Promise<void> {
    // A part of a second counts as one: 0 would be for ever.
    const lease = ttlMs === undefined ? 0 : Math.max(1, Math.ceil(ttlMs / 1000));
    const digest = digestOf(value);
    const { live } = latest;
    if (live?.lease === lease && live.digest === digest) return;
    const created = live === undefined;
    const entry = {
      key: `/registry/${key}`,
      value,
      lease,
      createRevision: live?.createRevision ?? 0,
      prevRevision: created ? 0 : latest.seq,
      is: created ? 'created' : 'updated',
    } as const;
    const seq = await this.#store(`write ${key}`, subject, encodeEntry(entry), { last: latest.seq });
    this.#latest.set(subject, { seq, live: { lease, digest, createRevision: live?.createRevision ?? seq } });
  }

  /** Deletes as kine does: a last version for watches, then the deletion marker. */
  async #delete(subject: string, before: number, key: string): Promise<void> {
    const entry = { key: `/registry/${key}`, value: nothing, lease: 0, createRevision: 0, is: 'deleted' } as const;
    const data = encodeEntry({ ...entry, prevRevision: before });
    const seq = await this.#store(`delete ${key}`, subject, data, { last: before });
    this.#latest.set(subject, { seq });
    const mark = await this.#store(`delete ${key}`, subject, '', { last: seq, operation: 'DEL' });
    this.#latest.set(subject, { seq: mark });
  }

  async #store(attempt: string, subject: string, data: string | Uint8Array, stored: StoreOptions): Promise<number> {
    const token = this.#token;
    if (token === undefined) throw endedWritesError(`bucket ${this.#bucket}`);
    try {
      return await this.#client.store(attempt, writerSubject(this.#bucket, token, subject), data, stored);
    } catch (error) {
      throw isUnanswered(error) ? endedWritesError(`bucket ${this.#bucket}`, error) : error;
    }
  }
}

function lastOfEach(changes: readonly StoredChange[]): ReadonlyMap<string, StoredChange> {
  const last = new Map<string, StoredChange>();
  for (const change of changes) {
    const key = change.is === 'put' ? change.entry.key : change.key;
    if (!isCopied(key)) continue;
    last.delete(key);
    last.set(key, change);
  }
  return last;
}

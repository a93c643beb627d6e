import type { IKeyValue, IRequestOp } from 'etcd3';
import { CompactedError } from '../../tenancy-data.ts';
import { StoreError } from '../../store-error.ts';
import type { EtcdConnection } from '../connection.ts';
import type { KeyRange } from '../range.ts';
import { EtcdWatch } from './watch.ts';

/** A key with its value, as etcd has it. */
export interface EtcdEntry {
  readonly key: Buffer;
  readonly value: Buffer;
  /** Identifier of the lease that the key lives on. */
  readonly lease?: string;
}

/** Some keys of a range, in order of their bytes. */
export interface EtcdPage {
  readonly entries: readonly EtcdEntry[];
  /** True when the range has more keys after these. */
  readonly more: boolean;
}

/** One operation of a transaction. */
export type EtcdOperation =
  { readonly is: 'put'; readonly entry: EtcdEntry } | { readonly is: 'delete'; readonly key: Buffer };

/** Thrown for an answer that is too large for the client: request fewer keys. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** Thrown when a key was to be put on a lease that has ended. */
export class LeaseGoneError extends Error {
  override readonly name = 'LeaseGoneError';
}

/** The calls on keys, leases and watches. They throw `StoreError` besides what they say. */
export class EtcdDataClient {
  readonly #connection: EtcdConnection;

  constructor(connection: EtcdConnection) {
    this.#connection = connection;
  }

  /** Number of keys in a range, and the store's revision; goes through consensus. */
  async count(range: KeyRange): Promise<{ readonly count: number; readonly revision: bigint }> {
    const request = { key: range.start, range_end: range.end, count_only: true };
    const answer = await this.#connection.call('count keys', (client) => client.kv.range(request));
    return { count: Number(answer.count), revision: BigInt(answer.header.revision) };
  }

  /** The first keys of a range as they were at a revision. Throws `CompactedError` and `TooLargeError`. */
  async page(range: KeyRange, revision: bigint, limit: number): Promise<EtcdPage> {
    const request = { key: range.start, range_end: range.end, revision: revision.toString(), limit };
    const answer = await explained(this.#connection.call('read keys', (client) => client.kv.range(request)));
    return { entries: answer.kvs.map(entryOf), more: answer.more };
  }

  /**
   * All operations in one transaction, on different keys; with a condition only if that key has that value, and says whether it had it.
   * Throws `LeaseGoneError`.
   */
  async write(operations: readonly EtcdOperation[], only?: Pick<EtcdEntry, 'key' | 'value'>): Promise<boolean> {
    const compare = only === undefined ? [] : [{ ...only, target: 'Value', result: 'Equal' } as const];
    const request = { compare, success: operations.map(requestOf), failure: [] };
    const { succeeded } = await explained(this.#connection.call('write keys', (client) => client.kv.txn(request)));
    return succeeded;
  }

  /** Puts an empty value, and returns the new revision. */
  async touch(key: Buffer): Promise<bigint> {
    const answer = await this.#connection.call(`write ${key.toString()}`, (client) =>
      client.kv.put({ key, value: Buffer.alloc(0) }),
    );
    return BigInt(answer.header.revision);
  }

  /** A new lease; etcd extends it when it is shorter than two election timeouts. */
  async grantLease(seconds: number): Promise<string> {
    const answer = await this.#connection.call('grant a lease', (client) =>
      client.leaseClient.leaseGrant({ TTL: seconds }),
    );
    return answer.ID;
  }

  /** Seconds that a lease has left; undefined when it has ended. */
  async leaseSeconds(lease: string): Promise<number | undefined> {
    const answer = await this.#connection.call('read a lease', (client) =>
      client.leaseClient.leaseTimeToLive({ ID: lease }),
    );
    return Number(answer.TTL) < 0 ? undefined : Number(answer.TTL);
  }

  /** Watches a range from a revision on. The caller disposes the watch. */
  async watch(range: KeyRange, from: bigint): Promise<EtcdWatch> {
    return this.#connection.call('watch keys', async (client) =>
      EtcdWatch.open(await client.watchClient.watch(), range, from),
    );
  }
}

/** The calls of the client, as an interface that tests can implement. */
export type EtcdDataCalls = Pick<EtcdDataClient, keyof EtcdDataClient>;

/** The entry of a message. */
export function entryOf({ key, value, lease }: IKeyValue): EtcdEntry {
  return { key, value, ...(lease === '0' ? {} : { lease }) };
}

function requestOf(operation: EtcdOperation): IRequestOp {
  if (operation.is === 'delete') return { request_delete_range: { key: operation.key } };
  const { key, value, lease } = operation.entry;
  return { request_put: { key, value, ...(lease === undefined ? {} : { lease }) } };
}

const meanings = [
  { pattern: /revision has been compacted/, error: CompactedError },
  { pattern: /message larger than max/, error: TooLargeError },
  { pattern: /requested lease not found/, error: LeaseGoneError },
] as const;

/** Translates errors that callers handle into their classes. */
async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const message = error instanceof StoreError ? error.message : '';
    const meaning = meanings.find((one) => one.pattern.test(message));
    if (meaning === undefined) throw error;
    throw new meaning.error(message, { cause: error });
  }
}

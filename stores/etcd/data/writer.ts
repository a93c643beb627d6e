import { randomUUID } from 'node:crypto';
import { endedWritesError } from '../../ended-writes-error.ts';
import type { EtcdCalls } from '../client.ts';
import type { EtcdOperation } from './data-client.ts';

type Calls = Pick<EtcdCalls, 'deleteKeys'> & { readonly data: Pick<EtcdCalls['data'], 'write'> };

/** Beside the records of ownership, out of every tenant's reach. */
export function writerKey(schema: string): string {
  return `steward.butlerlabs.dev/writers/${schema}`;
}

/**
 * One connection that writes to a tenancy. A key has the token of the last one that began; every transaction compares it, so etcd refuses
 * those of earlier ones, whenever they arrive. Without the key no connection may write.
 */
export class EtcdWriter {
  readonly #client: Calls;
  readonly #schema: string;
  #token: Buffer | undefined;

  constructor(client: Calls, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  async begin(): Promise<void> {
    // Nobody writes with a token whose begin was not answered.
    const token = Buffer.from(randomUUID());
    await this.#client.data.write([{ is: 'put', entry: { key: this.#key, value: token } }]);
    this.#token = token;
  }

  /** All operations in one transaction, unless the writes have been ended. */
  async write(operations: readonly EtcdOperation[]): Promise<void> {
    const token = this.#token;
    const isDone = token !== undefined && (await this.#client.data.write(operations, { key: this.#key, value: token }));
    if (!isDone) throw endedWritesError(`tenancy ${this.#schema} in etcd`);
  }

  async end(): Promise<void> {
    await this.#client.deleteKeys([writerKey(this.#schema)]);
    this.#token = undefined;
  }

  get #key(): Buffer {
    return Buffer.from(writerKey(this.#schema));
  }
}

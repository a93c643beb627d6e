import { setImmediate as settle } from 'node:timers/promises';

import { describe, expect, test } from '@jest/globals';
import { NatsClient } from '../client.ts';
import { BucketWriter } from './bucket-writer.ts';
import { decodeEntry } from './kine-entry.ts';
import type { KineEntry } from './kine-entry.ts';
import type { StoredChange } from '../../tenancy-data.ts';

/** A bucket that is empty at first, and numbers what is stored in it. */
class NumberingClient extends NatsClient {
  readonly stored: KineEntry[] = [];

  constructor() {
    super({ endpoints: [], login: {}, loginName: 'the test' });
  }

  /** Only the writer writes, so there is nothing of others to read. */
  override api<T>(): Promise<T> {
    return Promise.resolve({ num_pending: 0, config: {} } as T);
  }

  override store(_attempt: string, _subject: string, data: string | Uint8Array): Promise<number> {
    // Only to see whether the subject is there.
    if (data === '') return Promise.resolve(0);
    this.stored.push(decodeEntry(Buffer.from(data)));
    return Promise.resolve(this.stored.length);
  }
}

/** Stores what it is told to, in the order in which it was sent. */
class WaitingClient extends NumberingClient {
  readonly #waiting: PromiseWithResolvers<number>[] = [];

  get waiting(): number {
    return this.#waiting.length;
  }

  override store(attempt: string, subject: string, data: string | Uint8Array): Promise<number> {
    if (data === '') return super.store(attempt, subject, data);
    const answer = Promise.withResolvers<number>();
    this.#waiting.push(answer);
    this.stored.push(decodeEntry(Buffer.from(data)));
    return answer.promise;
  }

  async answer(count: number): Promise<void> {
    for (const { resolve } of this.#waiting.splice(0, count)) resolve(this.stored.length);
    await settle();
  }

  async refuse(): Promise<void> {
    this.#waiting.shift()?.reject(new Error('the disk is full'));
    await settle();
  }
}

const puts = (count: number): readonly StoredChange[] =>
  Array.from({ length: count }, (_, at) => ({ is: 'put', entry: { key: `pods/${at}`, value: Buffer.from('a') } }));

async function waitingWriter(): Promise<readonly [WaitingClient, BucketWriter]> {
  const client = new WaitingClient();
  const writer = new BucketWriter(client, 'alpha');
  await writer.begin();
  return [client, writer];
}

describe('BucketWriter', () => {
  test('sends another change whenever one is answered, so that it never waits for the slowest of many', async () => {
    const [client, writer] = await waitingWriter();
    const written = writer.write(puts(150));
    await settle();
    const atOnce = client.waiting;
    expect(atOnce).toBeLessThan(150);
    await client.answer(1);
    expect(client.waiting).toBe(atOnce);
    expect(client.stored.length).toBe(atOnce + 1);
    while (client.waiting > 0) await client.answer(client.waiting);
    await written;
    expect(client.stored.length).toBe(150);
  });

  test('sends nothing after a failure, and fails when all that was sent is answered', async () => {
    const [client, writer] = await waitingWriter();
    const written = writer.write(puts(150));
    let isOver = false;
    const failure = written.then(
      () => 'none',
      (error: unknown) => String(error),
    );
    const over = failure.finally(() => (isOver = true));
    await settle();
    const sent = client.stored.length;
    await client.refuse();
    expect(isOver).toBe(false);
    await client.answer(client.waiting);
    expect(client.stored.length).toBe(sent);
    await over;
    expect(await failure).toBe('Error: the disk is full');
  });

  // kine returns it to API servers as the create_revision of the key.
  test('records in every later version which message created the key', async () => {
    const client = new NumberingClient();
    const writer = new BucketWriter(client, 'alpha');
    await writer.begin();
    for (const value of ['first', 'second', 'third'])
      await writer.write([{ is: 'put', entry: { key: 'pods/a', value: Buffer.from(value) } }]);
    expect(client.stored).toMatchObject([
      { is: 'created', createRevision: 0, prevRevision: 0 },
      { is: 'updated', createRevision: 1, prevRevision: 1 },
      { is: 'updated', createRevision: 1, prevRevision: 2 },
    ]);
  });
});

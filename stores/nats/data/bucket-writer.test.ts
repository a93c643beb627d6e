import { describe, expect, test } from '@jest/globals';
import { NatsClient } from '../client.ts';
import { BucketWriter } from './bucket-writer.ts';
import { decodeEntry } from './kine-entry.ts';
import type { KineEntry } from './kine-entry.ts';

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

describe('BucketWriter', () => {
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

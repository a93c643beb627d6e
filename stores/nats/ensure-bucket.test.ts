import { describe, expect, test } from '@jest/globals';
import { NatsClient } from './client.ts';
import { listStreams } from './ensure-bucket.ts';

/** A server that lists its streams in these pages, for any number of requests. */
class PagingClient extends NatsClient {
  readonly offsets: number[] = [];
  readonly #pages: readonly (readonly string[] | null)[];
  readonly #total: number;

  constructor(pages: readonly (readonly string[] | null)[], total: number) {
    super({ endpoints: [], login: {}, loginName: 'the test' });
    this.#pages = pages;
    this.#total = total;
  }

  override api<T>(_attempt: string, _call: string, body: object = {}): Promise<T> {
    const streams = this.#pages[this.offsets.length];
    if (streams === undefined) return Promise.reject(new Error('requested one page more than there are'));
    this.offsets.push((body as { readonly offset: number }).offset);
    return Promise.resolve({ streams, total: this.#total } as T);
  }
}

describe('listStreams', () => {
  // A server lists 1024 at once.
  test('returns the streams of every page', async () => {
    const client = new PagingClient([['KV_a', 'KV_b'], ['KV_c', 'KV_d'], ['KV_e']], 5);
    expect(await listStreams(client)).toEqual(['KV_a', 'KV_b', 'KV_c', 'KV_d', 'KV_e']);
    expect(client.offsets).toEqual([0, 2, 4]);
  });

  test.each([[[]], [null]])('ends with a page of %j if streams were deleted in the meantime', async (last) => {
    const client = new PagingClient([['KV_a', 'KV_b'], last], 3);
    expect(await listStreams(client)).toEqual(['KV_a', 'KV_b']);
  });
});

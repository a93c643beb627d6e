import { describe, expect, test } from '@jest/globals';
import type { IWatchResponse } from 'etcd3';
import { CompactedError, longestPage } from '../../tenancy-data.ts';
import { EtcdChangeFeed } from './changes.ts';
import { tenancyRange } from '../range.ts';
import type { EtcdWatch, WatchNews } from './watch.ts';

type Event = IWatchResponse['events'][number];

function event(revision: number, key: string, type: Event['type'] = 'Put'): Event {
  const kv = {
    key: Buffer.from(key),
    value: Buffer.from(`at ${revision}`),
    mod_revision: String(revision),
    create_revision: '1',
    version: '1',
    lease: '0',
  };
  return { type, kv } as Event;
}

/** An etcd at a revision, whose watches return the given events. */
function setUp(revision: bigint, news: readonly (WatchNews | Error)[]) {
  const left = [...news];
  const watched: bigint[] = [];
  const watch = {
    askProgress: () => undefined,
    next: () => {
      const next = left.shift();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  } as unknown as EtcdWatch;
  const client = {
    count: () => Promise.resolve({ count: 0, revision }),
    watch: (_range: unknown, from: bigint) => {
      watched.push(from);
      return Promise.resolve(watch);
    },
  };
  return { feed: new EtcdChangeFeed(client, tenancyRange('a')), watched };
}

describe('EtcdChangeFeed', () => {
  test('watches nothing while the revision has not changed', async () => {
    const { feed, watched } = setUp(7n, []);
    expect(await feed.since(7n)).toEqual({ changes: [], revision: 7n });
    expect(watched).toEqual([]);
  });

  test('returns only when the watch has sent everything up to the current revision, and continues from there', async () => {
    const { feed, watched } = setUp(9n, [
      { is: 'progress', revision: 6n },
      { is: 'events', events: [event(7, '/a/x')] },
      { is: 'progress', revision: 8n },
      { is: 'events', events: [event(9, '/a/x', 'Delete')] },
      { is: 'progress', revision: 9n },
    ]);
    const told = await feed.since(5n);
    expect(told).toEqual({ changes: [{ is: 'deleted', key: Buffer.from('/a/x') }], revision: 9n });
    expect((await feed.since(9n)).changes).toEqual([]);
    expect(watched).toEqual([6n]);
  });

  test('keeps what came after the revision up to which it is asked for the next call', async () => {
    const { feed, watched } = setUp(9n, [
      { is: 'events', events: [event(7, '/a/x'), event(8, '/a/y'), event(9, '/a/x')] },
      { is: 'progress', revision: 9n },
    ]);
    const told = await feed.since(5n, 8n);
    expect(told.changes.map((change) => change.is === 'put' && change.entry.value.toString())).toEqual([
      'at 7',
      'at 8',
    ]);
    expect(told.revision).toBe(8n);
    expect(await feed.since(8n, 8n)).toEqual({ changes: [], revision: 8n });
    expect((await feed.since(8n)).changes).toHaveLength(1);
    expect(watched).toEqual([6n]);
  });

  test('knows that nothing came up to a revision by the progress of the watch', async () => {
    const { feed } = setUp(9n, [{ is: 'progress', revision: 9n }]);
    expect(await feed.since(5n, 8n)).toEqual({ changes: [], revision: 8n });
  });

  test('ends a full page at the end of a revision, and keeps the rest for the next', async () => {
    const many = Array.from({ length: longestPage - 1 }, (_, index) => event(10 + index, `/a/${index}`));
    const last = 10 + longestPage - 1;
    const { feed, watched } = setUp(5000n, [
      { is: 'events', events: [...many, event(last, '/a/b')] },
      { is: 'events', events: [event(last, '/a/c'), event(last + 1, '/a/d')] },
      { is: 'progress', revision: 5000n },
    ]);
    const first = await feed.since(5n);
    expect(first.revision).toBe(BigInt(last));
    expect(first.changes).toHaveLength(longestPage + 1);
    const second = await feed.since(first.revision);
    expect(second.changes).toHaveLength(1);
    expect(second.revision).toBe(5000n);
    expect(watched).toEqual([6n]);
  });

  test('starts a new watch from another revision, and after an error', async () => {
    const compacted = new CompactedError('gone');
    const { feed, watched } = setUp(9n, [
      { is: 'progress', revision: 9n },
      compacted,
      { is: 'progress', revision: 9n },
    ]);
    await feed.since(5n);
    await expect(feed.since(3n)).rejects.toBe(compacted);
    await feed.since(3n);
    expect(watched).toEqual([6n, 4n, 4n]);
  });
});

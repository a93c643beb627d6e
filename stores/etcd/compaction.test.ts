import { describe, expect, test } from '@jest/globals';
import { StoreError } from '../store-error.ts';
import { CompactedError } from '../tenancy-data.ts';
import { publishCompaction } from './compaction.ts';
import { WatchCompactedError } from './data/watch.ts';

interface Etcd {
  /** What the key says. */
  readonly published?: string;
  readonly revision: bigint;
  readonly compacted: bigint;
  /** What a watch that starts too early says; by default the truth. */
  readonly toWatch?: Error | 'nothing';
}

/** An etcd, and what was read and written in it. */
function setUp({ published, revision, compacted, toWatch = new WatchCompactedError(compacted) }: Etcd) {
  const written: (readonly [before: string | undefined, after: string])[] = [];
  const watched: bigint[] = [];
  const watch = {
    next: () => (toWatch === 'nothing' ? Promise.resolve(undefined) : Promise.reject(toWatch)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const client = {
    get: () => Promise.resolve(published),
    replace: (_key: string, { before, after }: { readonly before: string | undefined; readonly after: string }) => {
      written.push([before, after]);
      return Promise.resolve(true);
    },
    data: {
      count: () => Promise.resolve({ count: 0, revision }),
      page: (_range: unknown, at: bigint) =>
        at < compacted ? Promise.reject(new CompactedError('gone')) : Promise.resolve({ entries: [], more: false }),
      watch: (_range: unknown, from: bigint) => {
        watched.push(from);
        return Promise.resolve(watch);
      },
    },
  };
  return { publish: () => publishCompaction(client), written, watched };
}

describe('publishCompaction', () => {
  test('replaces what it has read, and nothing newer', async () => {
    const { publish, written, watched } = setUp({ published: '5', revision: 20n, compacted: 12n });
    await publish();
    expect({ written, watched }).toEqual({ written: [['5', '12']], watched: [5n] });
  });

  test('watches and writes nothing while the key is as new as etcd', async () => {
    const { publish, written, watched } = setUp({ published: '12', revision: 20n, compacted: 12n });
    await publish();
    expect({ written, watched }).toEqual({ written: [], watched: [] });
  });

  test.each([undefined, '', '0', '-4', '21', '12x', '99999999999999999999'])(
    'goes by the first revision if the key says %s at revision 20',
    async (published) => {
      const { publish, written, watched } = setUp({ published, revision: 20n, compacted: 12n });
      await publish();
      expect({ written, watched }).toEqual({ written: [[published, '12']], watched: [1n] });
    },
  );

  test('goes by the key at the very revision of etcd', async () => {
    const { publish, watched } = setUp({ published: '20', revision: 20n, compacted: 21n });
    await publish();
    expect(watched).toEqual([20n]);
  });

  test('writes nothing yet when a member has to catch up, and fails when a watch is lost', async () => {
    const etcd = { published: '5', revision: 20n, compacted: 12n };
    const behind = setUp({ ...etcd, toWatch: 'nothing' });
    await behind.publish();
    expect(behind.written).toEqual([]);
    const lost = setUp({ ...etcd, toWatch: new StoreError('Unreachable', 'etcd does not answer') });
    await expect(lost.publish()).rejects.toThrow('etcd does not answer');
    expect(lost.written).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { StoreError } from '../../store-error.ts';
import type { KeyRange } from '../range.ts';
import { WatchCompactedError } from './watch.ts';
import type { WatchNews } from './watch.ts';
import { EtcdWriteCounter } from './write-counter.ts';

const range: KeyRange = { start: Buffer.from('/a/'), end: Buffer.from('/a0') };
const never = new AbortController().signal;

type Events = Extract<WatchNews, { is: 'events' }>['events'];

/** An etcd of one tenant, whose watches send what the test lets them. */
class Etcd {
  revision = 100n;
  /** Revisions behind which watches were opened. */
  readonly opened: bigint[] = [];
  readonly ranges: KeyRange[] = [];
  closed = 0;
  readonly #log: bigint[] = [];
  #end: (error: Error) => void = () => undefined;

  write(count: number): void {
    for (let each = 0; each < count; each += 1) this.#log.push((this.revision += 1n));
  }

  /** The open watch ends. */
  end(error: Error): void {
    this.#end(error);
  }

  count(counted: KeyRange) {
    this.ranges.push(counted);
    return Promise.resolve({ count: 0, revision: this.revision });
  }

  watch(_range: KeyRange, from: bigint) {
    this.opened.push(from);
    let sent = from - 1n;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    // It may fail while nobody waits for news; the next one who does hears of it.
    failed.catch(() => undefined);
    this.#end = reject;
    let asked = (): void => undefined;
    return Promise.resolve({
      askProgress: () => {
        asked();
      },
      next: async (): Promise<WatchNews> => {
        await Promise.race([failed, new Promise<void>((resolve) => (asked = resolve))]);
        const due = this.#log.filter((revision) => revision > sent);
        sent = this.revision;
        if (due.length === 0) return { is: 'progress', revision: sent };
        return { is: 'events', events: due.map((one) => ({ kv: { mod_revision: String(one) } })) as Events };
      },
      [Symbol.asyncDispose]: () => {
        this.closed += 1;
        reject(new Error('closed'));
        return Promise.resolve();
      },
    });
  }
}

describe('The writes to a range of etcd', () => {
  test('are counted from the first call on, over one watch', async () => {
    const etcd = new Etcd();
    await using counter = new EtcdWriteCounter(etcd, range);
    etcd.write(5);
    expect(await counter.count(never)).toBe(0);
    etcd.write(7);
    expect(await counter.count(never)).toBe(7);
    expect(await counter.count(never)).toBe(7);
    etcd.write(1);
    expect(await counter.count(never)).toBe(8);
    expect(etcd.opened).toEqual([106n]);
    // Whatever the tenant stores, one key at most is counted to know the revision.
    expect(etcd.ranges[0]).toEqual({ start: range.start, end: Buffer.from('/a/\0') });
  });

  test('are counted on where a lost watch has ended, each once', async () => {
    const etcd = new Etcd();
    await using counter = new EtcdWriteCounter(etcd, range);
    await counter.count(never);
    etcd.write(3);
    expect(await counter.count(never)).toBe(3);
    etcd.end(new StoreError('Unreachable', 'etcd does not answer'));
    await new Promise(setImmediate);
    etcd.write(4);
    expect(await counter.count(never)).toBe(7);
    expect([etcd.opened, etcd.closed]).toEqual([[101n, 104n], 1]);
  });

  test('are counted from now on when what was written was compacted', async () => {
    const etcd = new Etcd();
    await using counter = new EtcdWriteCounter(etcd, range);
    await counter.count(never);
    etcd.write(9);
    etcd.end(new WatchCompactedError(105n));
    await new Promise(setImmediate);
    expect(await counter.count(never)).toBe(0);
    etcd.write(2);
    expect(await counter.count(never)).toBe(2);
    expect(etcd.opened).toEqual([101n, 110n]);
  });

  test('are those that came so far when the watch is late, and the others are counted with the next call', async () => {
    const etcd = new Etcd();
    await using counter = new EtcdWriteCounter(etcd, range);
    await counter.count(never);
    etcd.write(3);
    const { revision } = etcd;
    // A member that lags behind: it knows less than the one that was asked.
    etcd.count = () => Promise.resolve({ count: 0, revision: revision + 2n });
    expect(await counter.count(never)).toBe(3);
    etcd.write(2);
    expect(await counter.count(never)).toBe(5);
  });

  test('are not counted for a caller that has given up', async () => {
    await using counter = new EtcdWriteCounter(new Etcd(), range);
    await expect(counter.count(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    expect(await counter.count(never)).toBe(0);
  });

  test('leave no watch open', async () => {
    const etcd = new Etcd();
    const counter = new EtcdWriteCounter(etcd, range);
    await counter.count(never);
    await counter[Symbol.asyncDispose]();
    await new Promise(setImmediate);
    expect(etcd.closed).toBeGreaterThan(0);
  });
});

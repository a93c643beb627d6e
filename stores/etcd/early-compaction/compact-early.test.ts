import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import type { CompactionStep } from '../../compaction.ts';
import { StoreError } from '../../store-error.ts';
import { CompactedError } from '../../tenancy-data.ts';
import { WatchCompactedError } from '../data/watch.ts';
import { compactEarly } from './compact-early.ts';

const mebibyte = 2 ** 20;
const notCalled = (): Promise<never> => Promise.reject(new Error('it was called'));

/** An etcd whose only member uses half of its quota. What is compacted and written is recorded. */
class Rig {
  readonly said: string[] = [];
  readonly clock = new FakeClock();
  failure: StoreError | undefined;
  writeFailure: StoreError | undefined;
  inUseBytes = 500 * mebibyte;
  #compacted = 0n;

  step(): Promise<CompactionStep> {
    const client = {
      members: () =>
        Promise.resolve([
          {
            ...{ endpoint: 'etcd-0:2379', memberId: '1', leaderId: '1', isLearner: false },
            ...{ version: '3.6.16', storageVersion: '3.6.0', revision: 20n },
            ...{ sizeBytes: this.inUseBytes, inUseBytes: this.inUseBytes, quotaBytes: 1000 * mebibyte },
          },
        ]),
      maintenance: {
        listMembers: notCalled,
        alarms: notCalled,
        disarm: notCalled,
        requireInSync: notCalled,
        defragment: notCalled,
        lock: notCalled,
        unlock: notCalled,
        compact: (revision: bigint) => {
          this.said.push(`compact ${revision}`);
          if (this.failure !== undefined) return Promise.reject(this.failure);
          this.#compacted = revision;
          return Promise.resolve();
        },
      },
      get: () => Promise.resolve(undefined),
      replace: (key: string, { after }: { readonly after: string }) => {
        this.said.push(`${key} = ${after}`);
        return this.writeFailure === undefined ? Promise.resolve(true) : Promise.reject(this.writeFailure);
      },
      data: {
        count: () => Promise.resolve({ count: 0, revision: 20n }),
        page: (_range: unknown, at: bigint) =>
          at < this.#compacted
            ? Promise.reject(new CompactedError('gone'))
            : Promise.resolve({ entries: [], more: false }),
        watch: () =>
          Promise.resolve({
            next: () => Promise.reject(new WatchCompactedError(this.#compacted)),
            [Symbol.asyncDispose]: () => Promise.resolve(),
          }),
      },
    };
    const memory = { seen: [{ revision: 12n, at: this.clock.monotonic() - 40_000, grown: 0 }] };
    return compactEarly(client, { limits: { usedPercent: 40, historyMs: 30_000 }, memory, clock: this.clock });
  }
}

describe('An early compaction', () => {
  test('is published at once, and says what it left', async () => {
    const rig = new Rig();
    const { compaction, memory } = await rig.step();
    expect(rig.said).toEqual(['compact 12', 'compact_rev_key = 12']);
    expect(compaction).toEqual({
      ...{ endpoint: 'etcd-0:2379', inUseBytes: 500 * mebibyte, historyMs: 40_000, time: rig.clock.now() },
    });
    expect(memory.compacted).toEqual({ revision: 12n, at: 0, grown: 0 });
  });

  test('is not made while there is room', async () => {
    const rig = new Rig();
    rig.inUseBytes = 399 * mebibyte;
    expect(await rig.step()).not.toHaveProperty('compaction');
    expect(rig.said).toEqual([]);
  });

  test('that fails is an error, so that it is tried again', async () => {
    const rig = new Rig();
    rig.failure = new StoreError('Unreachable', 'etcd does not answer');
    await expect(rig.step()).rejects.toThrow('etcd does not answer');
    expect(rig.said).toEqual(['compact 12']);
  });

  test('that cannot be published is not made again, and says why', async () => {
    const rig = new Rig();
    rig.writeFailure = new StoreError('Failed', 'the quota is used up');
    const { compaction, memory, without } = await rig.step();
    expect(without).toEqual({ reason: 'Failed', message: 'the quota is used up' });
    expect(compaction).toBeDefined();
    expect(memory.compacted?.revision).toBe(12n);
  });
});

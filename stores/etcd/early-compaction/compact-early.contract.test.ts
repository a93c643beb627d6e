import { expect, test } from '@jest/globals';
import { startEtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { patient } from '../../../testing/patient.ts';
import type { CompactionMemory, CompactionStep } from '../../compaction.ts';
import { CompactedError } from '../../tenancy-data.ts';
import { EtcdClient } from '../client.ts';
import { etcdDriver } from '../driver.ts';
import { compactEarly } from './compact-early.ts';

const mebibyte = 2 ** 20;
const quota = 64 * mebibyte;
const limits = { usedPercent: 40, historyMs: 30_000 };

/** As large as a ConfigMap may be, and how fast such objects are overwritten, in bytes per second. */
const large = 900 * 1024;
const rate = mebibyte / 2;

/** Smaller objects, of which a file is full without much free space between them, and how many are written at once. */
const small = 15 * 1024;
const atOnce = 20;

const range = (prefix: string) => ({ start: Buffer.from(`${prefix}/`), end: Buffer.from(`${prefix}0`) });

/** An etcd with a small quota, and a clock that moves on with what is written. */
class Rig implements AsyncDisposable {
  readonly store: EtcdDataStore;
  readonly client: EtcdClient;
  readonly clock = new FakeClock();
  readonly compactions: NonNullable<CompactionStep['compaction']>[] = [];
  memory: CompactionMemory = { seen: [] };
  #due = 0;

  private constructor(store: EtcdDataStore, client: EtcdClient) {
    this.store = store;
    this.client = client;
  }

  static async start(members = 1): Promise<Rig> {
    const store = await startEtcdDataStore({ members, flags: { 'quota-backend-bytes': String(quota) } });
    const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
    return new Rig(store, new EtcdClient(config));
  }

  async put(key: string, bytes: number): Promise<void> {
    await this.client.data.write([{ is: 'put', entry: { key: Buffer.from(key), value: Buffer.alloc(bytes, 'x') } }]);
  }

  /** Overwrites four large objects, and a small one of a neighbor after each, until so many bytes were written. */
  async overwrite(bytes: number, after: () => Promise<void> = () => Promise.resolve()): Promise<number> {
    let count = 0;
    for (let written = 0; written < bytes; written += large) {
      await this.put(`hostile/${count % 4}`, large);
      await this.put('neighbor/a', 10);
      count += 1;
      await this.clock.advance((large * 1000) / rate);
      await after();
    }
    return count;
  }

  /** A look, if one is due. */
  async look(): Promise<CompactionStep | undefined> {
    if (this.clock.monotonic() < this.#due) return undefined;
    const step = await compactEarly(this.client, { limits, memory: this.memory, clock: this.clock });
    this.memory = step.memory;
    this.#due = this.clock.monotonic() + step.afterMs;
    if (step.compaction !== undefined) {
      this.compactions.push(step.compaction);
      // The clock stands still while etcd deletes.
      const again = this.store.server.control('compact', String(this.memory.compacted?.revision), '--physical');
      await expect(again).rejects.toThrow(/has been compacted/);
    }
    return step;
  }

  async inUse(): Promise<number> {
    return Math.max(...(await this.client.members()).map((answer) => ('version' in answer ? answer.inUseBytes : 0)));
  }

  async sizes(): Promise<readonly number[]> {
    return (await this.client.members()).map((answer) => ('version' in answer ? answer.sizeBytes : Infinity));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

test('without it, a tenant that overwrites a few objects ends the writes of all tenants', async () => {
  await using rig = await Rig.start();
  await expect(rig.overwrite(2 * quota)).rejects.toThrow(/quota is used up/);
  expect(await rig.store.server.control('alarm', 'list')).toContain('NOSPACE');
  await expect(rig.put('neighbor/a', 10)).rejects.toThrow(/quota is used up/);
}, 120_000);

test.each([1, 3])(
  'with it, a tenant that overwrites a few objects never raises an alarm, and a neighbor on %d members misses no change',
  async (members) => {
    await using rig = await Rig.start(members);
    await using watch = await rig.client.data.watch(range('neighbor'), 1n);
    const count = await rig.overwrite(3 * quota, async () => {
      await rig.look();
    });
    expect(rig.compactions.length).toBeGreaterThan(2);
    expect(await rig.store.server.control('alarm', 'list')).toBe('');
    for (const size of await rig.sizes()) expect(size).toBeLessThan(quota * 0.9);

    let changes = 0;
    while (changes < count) {
      const news = await watch.next(5000);
      if (news === undefined) break;
      if (news.is === 'events') changes += news.events.length;
    }
    expect(changes).toBe(count);

    const compacted = rig.memory.compacted?.revision ?? 0n;
    // What API servers watch says it, and what is younger can still be read.
    expect(await rig.client.get('compact_rev_key')).toBe(String(compacted));
    await expect(rig.client.data.page(range('neighbor'), compacted - 1n, 1)).rejects.toBeInstanceOf(CompactedError);
    expect((await rig.client.data.page(range('neighbor'), compacted + 1n, 1)).entries).toHaveLength(1);
    for (const { historyMs } of rig.compactions) expect(historyMs).toBeGreaterThanOrEqual(3000);
  },
  240_000,
);

test('live data that fills the quota is compacted a few times, and then reported', async () => {
  await using rig = await Rig.start();
  let last: CompactionStep | undefined;
  const look = async (): Promise<void> => {
    await rig.clock.advance(10_000);
    last = (await rig.look()) ?? last;
  };
  const isReported = (): boolean =>
    last?.without !== undefined && last.without !== 'unknown' && last.without.reason === 'LiveDataTooLarge';
  const signal = AbortSignal.timeout(patient(100_000));
  for (let index = 0; !isReported(); index += 1) {
    signal.throwIfAborted();
    const entries = Array.from({ length: atOnce }, (_, at) => ({
      key: Buffer.from(`live/${index}/${at}`),
      value: Buffer.alloc(small, 'x'),
    }));
    if ((await rig.inUse()) < 0.84 * quota) {
      await rig.client.data.write(entries.map((entry) => ({ is: 'put', entry })));
    } else await rig.put('live/small', 10);
    await look();
  }
  const before = rig.compactions.length;
  expect(before).toBeLessThan(10);
  for (let minute = 0; minute < 100; minute += 1) {
    await rig.put('live/small', 10);
    await look();
  }
  expect(rig.compactions.length).toBe(before);
  expect(isReported()).toBe(true);
}, 240_000);

test('two processes at once compact once', async () => {
  await using rig = await Rig.start();
  await rig.overwrite(0.5 * quota);
  const { revision } = await rig.client.data.count(range('hostile'));
  await rig.put('other', 1);
  const memory = { seen: [{ revision: revision - 2n, at: rig.clock.monotonic() - 60_000, grown: 0 }] };
  const request = { limits, memory, clock: rig.clock };
  const steps = await Promise.all([compactEarly(rig.client, request), compactEarly(rig.client, request)]);
  expect(steps.map(({ memory: after }) => after.compacted?.revision)).toEqual([revision - 2n, revision - 2n]);
  expect(await rig.client.get('compact_rev_key')).toBe(String(revision - 2n));
}, 120_000);

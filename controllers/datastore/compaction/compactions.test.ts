import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import type { CompactionMemory, CompactionRequest, CompactionStep } from '../../../stores/compaction.ts';
import type { Session } from '../../../stores/driver.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { Compactions } from './compactions.ts';

const wanted = { usedPercent: 50, historySeconds: 20 };

function newStore(over: { readonly etcd?: DataStore['spec']['etcd']; readonly generation?: number } = {}): DataStore {
  const { etcd = { compaction: wanted }, generation = 1 } = over;
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'default', generation }),
    spec: { driver: 'etcd', endpoints: ['etcd-0:2379'], etcd },
    status: {},
  };
}

class Rig {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  readonly requests: CompactionRequest[] = [];
  ready = true;
  memory: CompactionMemory = { seen: [{ revision: 1n, at: 0, grown: 0 }] };
  step: Omit<CompactionStep, 'memory' | 'afterMs'> | Error = {};
  afterMs = 15_000;
  readonly #compactions = new Compactions(this.clock, new ObjectMemory());

  async reconcile(
    store: DataStore,
  ): Promise<{ readonly store: DataStore; readonly afterMs: number; readonly hasMore: boolean }> {
    const conditions = store.status?.conditions ?? [];
    const status: DataStoreStatus = { ready: this.ready, conditions, etcd: { storageVersion: '3.6' } };
    const session: Pick<Session, 'compactEarly'> = {
      compactEarly: (request) => {
        this.requests.push(request);
        if (this.step instanceof Error) return Promise.reject(this.step);
        return Promise.resolve({ ...this.step, memory: this.memory, afterMs: this.afterMs });
      },
    };
    const ctx = {
      signal: new AbortController().signal,
      now: this.clock.now(),
      log: silent,
      event: (...event: readonly string[]) => void this.events.push(event.join(' ')),
    };
    const open = () =>
      Promise.resolve({ checksum: '', probe: <T>(work: (one: Session) => Promise<T>) => work(session as Session) });
    const result = await this.#compactions.after(store, { status, afterMs: 15_000 }, { open, ctx });
    return { ...result, store: { ...store, status: result.status } };
  }

  compaction(): NonNullable<CompactionStep['compaction']> {
    return { endpoint: 'etcd-0:2379', inUseBytes: 1.5 * 2 ** 30, historyMs: 21_400, time: this.clock.now() };
  }
}

const conditionOf = ({ status }: DataStore): string | undefined =>
  status?.conditions
    ?.filter(({ type }) => type === 'SpaceReserved')
    .map((one) => `${one.status} ${one.reason}: ${one.message}`)
    .join();

const early = 'etcd-0:2379 had 1.5 GiB in use, so its history was compacted but for the last 21 s';

describe('Compactions', () => {
  test('look at nothing that the spec does not request, and report nothing about it', async () => {
    const rig = new Rig();
    const { store, afterMs, hasMore } = await rig.reconcile(newStore({ etcd: {} }));
    expect(rig.requests).toEqual([]);
    expect(store.status).toEqual({ ready: true, conditions: [], etcd: { storageVersion: '3.6' } });
    expect({ afterMs, hasMore }).toEqual({ afterMs: 15_000, hasMore: false });
  });

  test('look at nothing while the datastore cannot be used', async () => {
    const rig = new Rig();
    rig.ready = false;
    expect(await rig.reconcile(newStore())).toMatchObject({ afterMs: 15_000, hasMore: false });
    expect(rig.requests).toEqual([]);
  });

  test('look when it is due, with the limits of the spec and what is remembered, and at once when the spec changes', async () => {
    const rig = new Rig();
    rig.afterMs = 4_000;
    const { store, afterMs, hasMore } = await rig.reconcile(newStore());
    expect({ afterMs, hasMore }).toEqual({ afterMs: 4_000, hasMore: true });
    expect(rig.requests).toMatchObject([{ limits: { usedPercent: 50, historyMs: 20_000 }, memory: { seen: [] } }]);
    expect(conditionOf(store)).toBe('True SpaceReserved: ');
    await rig.clock.advance(3_999);
    const early = await rig.reconcile(store);
    expect(rig.requests).toHaveLength(1);
    expect(early.afterMs).toBe(1);
    expect(conditionOf(early.store)).toBe('True SpaceReserved: ');
    await rig.clock.advance(1);
    await rig.reconcile(store);
    expect(rig.requests[1]?.memory).toEqual(rig.memory);
    await rig.reconcile({ ...store, metadata: { ...store.metadata, generation: 2 } });
    expect(rig.requests).toHaveLength(3);
    expect(rig.events).toEqual([]);
  });

  test('leave the pace to others while nothing is urgent', async () => {
    const rig = new Rig();
    rig.afterMs = 60_000;
    expect(await rig.reconcile(newStore())).toMatchObject({ afterMs: 60_000, hasMore: false });
  });

  test('report an early compaction, with one Event for all that follow, and that they ended ten minutes later', async () => {
    const rig = new Rig();
    rig.step = { compaction: rig.compaction() };
    const one = await rig.reconcile(newStore());
    expect(conditionOf(one.store)).toBe(`True CompactedEarly: ${early}`);
    expect(one.store.status?.etcd).toEqual({
      storageVersion: '3.6',
      compacted: {
        ...{ endpoint: 'etcd-0:2379', time: '2030-01-01T00:00:00Z' },
        ...{ inUseBytes: 1.5 * 2 ** 30, historySeconds: 21 },
      },
    });
    await rig.clock.advance(60_000);
    rig.step = { compaction: { ...rig.compaction(), historyMs: 30_000 } };
    const two = await rig.reconcile(one.store);
    expect(two.store.status?.etcd?.compacted?.time).toBe('2030-01-01T00:01:00Z');
    // One after the other, they are one.
    await rig.clock.advance(15_000);
    const same = await rig.reconcile(two.store);
    expect(same.store.status?.etcd?.compacted?.time).toBe('2030-01-01T00:01:00Z');
    rig.step = {};
    await rig.clock.advance(584_999);
    const three = await rig.reconcile(two.store);
    expect(conditionOf(three.store)).toMatch(/^True CompactedEarly: .* 30 s$/);
    await rig.clock.advance(15_001);
    const four = await rig.reconcile(three.store);
    expect(conditionOf(four.store)).toBe('True SpaceReserved: ');
    expect(four.store.status?.etcd?.compacted?.historySeconds).toBe(30);
    expect(rig.events).toEqual([`Warning CompactedEarly ${early}`]);
  });

  test('report live data that leaves no room, and keep it while nothing is known', async () => {
    const rig = new Rig();
    rig.step = { without: { reason: 'LiveDataTooLarge', message: 'it is full' } };
    const one = await rig.reconcile(newStore());
    expect(conditionOf(one.store)).toBe('False LiveDataTooLarge: it is full');
    rig.step = { without: 'unknown' };
    await rig.clock.advance(15_000);
    const two = await rig.reconcile(one.store);
    expect(rig.requests).toHaveLength(2);
    expect(conditionOf(two.store)).toBe('False LiveDataTooLarge: it is full');
    expect(rig.events).toEqual(['Warning LiveDataTooLarge it is full']);
  });

  test('report a look that failed, and look again with what was remembered before', async () => {
    const rig = new Rig();
    const one = await rig.reconcile(newStore());
    await rig.clock.advance(15_000);
    rig.step = new StoreError('Failed', 'etcd refused to compact');
    const two = await rig.reconcile(one.store);
    expect(conditionOf(two.store)).toBe('False Failed: etcd refused to compact');
    expect(two.afterMs).toBe(5_000);
    await rig.clock.advance(5_000);
    rig.step = {};
    const three = await rig.reconcile(two.store);
    expect(rig.requests[2]?.memory).toEqual(rig.memory);
    expect(conditionOf(three.store)).toBe('True SpaceReserved: ');
    expect(rig.events).toEqual(['Warning Failed etcd refused to compact']);
  });

  test('remove their condition and status when the spec no longer requests them', async () => {
    const rig = new Rig();
    rig.step = { compaction: rig.compaction() };
    const { store } = await rig.reconcile(newStore());
    const after = await rig.reconcile({ ...store, spec: { ...store.spec, etcd: {} } });
    expect(conditionOf(after.store)).toBe('');
    expect(after.store.status?.etcd).toEqual({ storageVersion: '3.6' });
  });
});

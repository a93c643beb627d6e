import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import type { ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import type { DefragmentationRequest, DefragmentationStep } from '../../../stores/defragmentation.ts';
import type { Session } from '../../../stores/driver.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { Defragmentations } from './defragmentations.ts';

const wanted = { freePercent: 45, minimumSize: '100Mi', maximumPauseSeconds: 5 };

function newStore(over: { readonly etcd?: DataStore['spec']['etcd']; readonly generation?: number } = {}): DataStore {
  const { etcd = { defragmentation: wanted }, generation = 1 } = over;
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'default', generation }),
    spec: { driver: 'etcd', endpoints: ['etcd-0:2379', 'etcd-1:2379'], etcd },
    status: {},
  };
}

class Rig {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  readonly requests: DefragmentationRequest[] = [];
  ready = true;
  step: DefragmentationStep | Error = { is: 'unneeded' };
  readonly #defragmentations = new Defragmentations(this.clock, new ObjectMemory());

  async reconcile(
    store: DataStore,
  ): Promise<{ readonly store: DataStore; readonly result: ReconcileResult<DataStore> }> {
    const conditions = store.status?.conditions ?? [];
    const { storageVersion = '3.6' } = store.status?.etcd ?? {};
    const status: DataStoreStatus = { ready: this.ready, conditions, etcd: { storageVersion } };
    const session: Pick<Session, 'defragment'> = {
      defragment: (request) => {
        this.requests.push(request);
        return this.step instanceof Error ? Promise.reject(this.step) : Promise.resolve(this.step);
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
    const result = await this.#defragmentations.after(store, { status, afterMs: 15_000 }, { open, ctx });
    return { store: { ...store, status: result.status ?? {} }, result };
  }
}

const conditionOf = ({ status }: DataStore): string | undefined =>
  status?.conditions
    ?.filter(({ type }) => type === 'Defragmented')
    .map((one) => `${one.status} ${one.reason}: ${one.message}`)
    .join();

const server = (endpoint: string, time: Date) => ({
  endpoint,
  time,
  sizeBytes: 2 ** 20,
  freedBytes: 412 * 2 ** 20,
  pauseMs: 3140,
});

describe('Defragmentations', () => {
  test('do nothing that the spec does not request, and report nothing about it', async () => {
    const rig = new Rig();
    const { store, result } = await rig.reconcile(newStore({ etcd: {} }));
    expect(rig.requests).toEqual([]);
    expect(result).toEqual({
      status: { ready: true, conditions: [], etcd: { storageVersion: '3.6' } },
      afterMs: 15_000,
    });
    expect(conditionOf(store)).toBe('');
  });

  test('do nothing while the datastore cannot be used', async () => {
    const rig = new Rig();
    rig.ready = false;
    await rig.reconcile(newStore());
    expect(rig.requests).toEqual([]);
  });

  test('take a step once a minute, with the limits of the spec, and at once when the spec changes', async () => {
    const rig = new Rig();
    const { store, result } = await rig.reconcile(newStore());
    expect(rig.requests).toMatchObject([
      { limits: { freePercent: 45, minimumBytes: 100 * 2 ** 20, maximumPauseMs: 5000 }, previous: [] },
    ]);
    expect(result).toMatchObject({ afterMs: 15_000, hasMore: false });
    expect(conditionOf(store)).toBe('True Defragmented: ');
    await rig.clock.advance(59_999);
    const again = await rig.reconcile(store);
    expect(rig.requests).toHaveLength(1);
    expect(conditionOf(again.store)).toBe('True Defragmented: ');
    await rig.reconcile({ ...store, metadata: { ...store.metadata, generation: 2 } });
    expect(rig.requests).toHaveLength(2);
    await rig.clock.advance(60_000);
    await rig.reconcile({ ...store, metadata: { ...store.metadata, generation: 2 } });
    expect(rig.requests).toHaveLength(3);
    expect(rig.events).toEqual([]);
  });

  test('continue at once after a step, and report what was freed, each member with its last time', async () => {
    const rig = new Rig();
    const first = rig.clock.now();
    rig.step = { is: 'defragmented', server: server('etcd-0:2379', first) };
    const one = await rig.reconcile(newStore());
    expect(one.result).toMatchObject({ afterMs: 0, hasMore: true });
    expect(conditionOf(one.store)).toBe(
      'False Defragmenting: etcd-0:2379 was defragmented in 3.1 s, which freed 412 MiB',
    );
    rig.step = { is: 'disarmed' };
    const two = await rig.reconcile(one.store);
    expect(rig.requests[1]?.previous).toEqual([server('etcd-0:2379', first)]);
    rig.step = { is: 'defragmented', server: server('etcd-1:2379', first) };
    const three = await rig.reconcile(two.store);
    rig.step = { is: 'unneeded' };
    const four = await rig.reconcile(three.store);
    expect(conditionOf(four.store)).toBe('True Defragmented: ');
    expect(four.store.status?.etcd).toEqual({
      storageVersion: '3.6',
      defragmented: ['etcd-0:2379', 'etcd-1:2379'].map((endpoint) => ({
        ...{ endpoint, time: first.toISOString().replace('.000', '') },
        ...{ sizeBytes: 2 ** 20, freedBytes: 412 * 2 ** 20, pauseMilliseconds: 3140 },
      })),
    });
    expect(rig.events).toEqual([
      'Normal Defragmenting etcd-0:2379 was defragmented in 3.1 s, which freed 412 MiB',
      'Normal Defragmenting the quota was used up; space was freed, and writes are accepted again',
      'Normal Defragmenting etcd-1:2379 was defragmented in 3.1 s, which freed 412 MiB',
    ]);
    // An endpoint that the spec no longer has is forgotten.
    const spec = { ...four.store.spec, endpoints: ['etcd-1:2379'] };
    const five = await rig.reconcile({ ...four.store, spec });
    expect(five.store.status?.etcd?.defragmented?.map(({ endpoint }) => endpoint)).toEqual(['etcd-1:2379']);
  });

  test('report once in an Event what they wait for, and try again after a minute', async () => {
    const rig = new Rig();
    rig.step = { is: 'waits', reason: 'MembersUnhealthy', message: 'etcd-1 does not answer' };
    const one = await rig.reconcile(newStore());
    expect(one.result).toMatchObject({ afterMs: 15_000, hasMore: false });
    expect(conditionOf(one.store)).toBe('False MembersUnhealthy: etcd-1 does not answer');
    await rig.clock.advance(60_000);
    const two = await rig.reconcile(one.store);
    expect(rig.requests).toHaveLength(2);
    rig.step = new StoreError('CredentialsMissing', 'the Secret is gone');
    await rig.clock.advance(60_000);
    const three = await rig.reconcile(two.store);
    expect(conditionOf(three.store)).toBe('False Failed: the Secret is gone');
    expect(rig.events).toEqual([
      'Warning MembersUnhealthy etcd-1 does not answer',
      'Warning Failed the Secret is gone',
    ]);
  });

  test('remove their condition and status when the spec no longer requests them', async () => {
    const rig = new Rig();
    rig.step = { is: 'defragmented', server: server('etcd-0:2379', rig.clock.now()) };
    const { store } = await rig.reconcile(newStore());
    const after = await rig.reconcile({ ...store, spec: { ...store.spec, etcd: {} } });
    expect(conditionOf(after.store)).toBe('');
    expect(after.store.status?.etcd).toEqual({ storageVersion: '3.6' });
  });
});

import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { Cluster } from './cluster.ts';
import { wrapCluster } from './wrap-cluster.ts';

const key = { namespace: 'a', name: 'b' };
const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };

/** Each call once, in an order in which all succeed. */
const calls: readonly (readonly [verb: string, isWrite: boolean, call: (at: Cluster) => Promise<unknown>])[] = [
  ['create', true, (at) => at.create(kinds.ConfigMap, manifest, { fieldManager: 'm' })],
  ['apply', true, (at) => at.apply(kinds.ConfigMap, manifest, { fieldManager: 'm' })],
  ['patch', true, (at) => at.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: {} } }, { fieldManager: 'm' })],
  ['get', false, (at) => at.get(kinds.ConfigMap, key)],
  ['list', false, (at) => at.list(kinds.ConfigMap, { namespace: 'a' })],
  ['delete', true, (at) => at.delete(kinds.ConfigMap, key, { propagation: 'Background' })],
  ['text', false, (at) => at.text('/readyz')],
];

describe('A wrapped client', () => {
  test('makes the same calls with the same answers, and says which of them write', async () => {
    const [plain, there] = [new FakeCluster({ now: () => 0 }), new FakeCluster({ now: () => 0 })];
    const seen: boolean[] = [];
    const client = wrapCluster(there, ({ isWrite, send }) => {
      seen.push(isWrite);
      return send();
    });
    const withoutUid = (answer: unknown): unknown =>
      JSON.parse(JSON.stringify(answer), (name, value: unknown) => (name === 'uid' ? undefined : value));
    for (const [, , call] of calls) expect(withoutUid(await call(client))).toEqual(withoutUid(await call(plain)));
    expect(there.calls).toEqual(plain.calls);
    expect(there.calls.map(({ verb }) => verb)).toEqual(calls.map(([verb]) => verb));
    expect(seen).toEqual(calls.map(([, isWrite]) => isWrite));
  });

  test.each(calls)('%s does nothing when the call is not made', async (_verb, _isWrite, call) => {
    const there = new FakeCluster();
    await expect(call(wrapCluster(there, () => Promise.reject(new Error('not now'))))).rejects.toThrow('not now');
    expect(there.calls).toEqual([]);
  });

  test.each(calls)(
    '%s is made with another signal and at another client if its wrapper passes them',
    async (_verb, _isWrite, call) => {
      const [there, other] = [new FakeCluster(), new FakeCluster()];
      const signal = AbortSignal.abort(new Error('cut'));
      await expect(call(wrapCluster(there, ({ send }) => send({ signal })))).rejects.toThrow('cut');
      // An empty cluster refuses some of the calls: only where they arrive counts.
      await Promise.allSettled([call(wrapCluster(there, ({ send }) => send({ at: other })))]);
      expect([there.calls.length, other.calls.length]).toEqual([0, 1]);
    },
  );

  test('shows the signal of the caller and keeps it', async () => {
    const there = new FakeCluster();
    const signals: unknown[] = [];
    const client = wrapCluster(there, ({ signal, send }) => {
      signals.push(signal);
      return send();
    });
    const signal = AbortSignal.abort(new Error('cut'));
    await expect(client.get(kinds.ConfigMap, key, { signal })).rejects.toThrow('cut');
    await client.get(kinds.ConfigMap, key);
    expect(signals).toEqual([signal, undefined]);
  });

  test('passes watches, the last contact and the close on', async () => {
    const there = new FakeCluster();
    await there.seed(kinds.ConfigMap, manifest);
    const client = wrapCluster(there, () => Promise.reject(new Error('no call')));
    for await (const event of client.watch(kinds.ConfigMap, { signal: new AbortController().signal })) {
      expect(event).toMatchObject({ type: 'ADDED', object: { metadata: key } });
      break;
    }
    expect(client.lastContact()).toBe(there.lastContact());
    expect(client.lastContact()).toBeDefined();
    await client.close();
    await expect(there.get(kinds.ConfigMap, key)).rejects.toThrow('closed');
  });
});

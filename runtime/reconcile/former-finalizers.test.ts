import { expect, test } from '@jest/globals';
import { ObjectMemory } from '../cache/object-memory.ts';
import { kinds } from '../../api/core/kinds.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { silent } from '../observe/logger.ts';
import { Reconciler } from './reconciler.ts';

const key = { namespace: 'a', name: 'b' };

test('a finalizer of a predecessor is removed at the end, and never added', async () => {
  const cluster = new FakeCluster();
  const reconciler = new Reconciler({
    memory: new ObjectMemory(),
    controller: {
      name: 'test',
      kind: kinds.ConfigMap,
      watches: [],
      access: [],
      finalizers: ['now.example.com/a'],
      formerFinalizers: ['before.example.com/a'],
      reconcile: () => Promise.resolve({}),
    },
    cluster,
    clock: new FakeClock(),
    events: { record: () => undefined },
    stop: new AbortController().signal,
    wrote: () => undefined,
  });
  const read = async () => cluster.admin.get(kinds.ConfigMap, key);
  const fresh = await cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
  await reconciler.reconcile(fresh, silent);
  expect((await read())?.metadata.finalizers).toEqual(['now.example.com/a']);
  const body = { metadata: { finalizers: ['before.example.com/a'] } };
  await cluster.admin.patch(kinds.ConfigMap, key, { type: 'merge', body });
  await cluster.admin.delete(kinds.ConfigMap, key);
  const leaving = await read();
  if (leaving === undefined) throw new Error('its finalizer did not hold it');
  await reconciler.reconcile(leaving, silent);
  expect(await read()).toBeUndefined();
});

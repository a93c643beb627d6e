import { expect, test } from '@jest/globals';
import { ObjectMemory } from '../cache/object-memory.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { silent } from '../observe/logger.ts';
import { Reconciler } from './reconciler.ts';

const key = { namespace: 'a', name: 'b' };

/** A reconciler that notes which reconciles are told to be the first, and of which version. */
function noting(cluster: FakeCluster): { readonly reconciler: Reconciler; readonly noted: (string | undefined)[] } {
  const noted: (string | undefined)[] = [];
  const reconciler = new Reconciler({
    memory: new ObjectMemory(),
    controller: {
      name: 'test',
      kind: kinds.ConfigMap,
      watches: [],
      access: [],
      finalizers: ['example.com/a'],
      reconcile: (_, { firstVersion }) => {
        noted.push(firstVersion);
        return Promise.resolve({});
      },
    },
    cluster,
    clock: new FakeClock(),
    events: { record: () => undefined },
    stop: new AbortController().signal,
    wrote: () => undefined,
  });
  return { reconciler, noted };
}

async function seeded(cluster: FakeCluster): Promise<Resource> {
  return cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key });
}

test('only the first reconcile of an object knows that it is the first, whichever process runs it', async () => {
  const cluster = new FakeCluster();
  const fresh = await seeded(cluster);
  const [one, other] = [noting(cluster), noting(cluster)];
  await one.reconciler.reconcile(fresh, silent);
  const later = await cluster.admin.get(kinds.ConfigMap, key);
  if (later === undefined) throw new Error('the object is gone');
  await one.reconciler.reconcile(later, silent);
  await other.reconciler.reconcile(later, silent);
  expect([one.noted, other.noted]).toEqual([[fresh.metadata.resourceVersion, undefined], [undefined]]);
});

test('a process with an old cache has no first reconcile of what another one had', async () => {
  const cluster = new FakeCluster();
  const fresh = await seeded(cluster);
  const [one, other] = [noting(cluster), noting(cluster)];
  await one.reconciler.reconcile(fresh, silent);
  await other.reconciler.reconcile(fresh, silent);
  expect(other.noted).toEqual([]);
});

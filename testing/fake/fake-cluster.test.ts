import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { kinds, type ConfigMap } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { describeCluster } from '../contracts/cluster-suite.ts';
import { configMap } from '../contracts/cluster-under-test.ts';
import { FakeCluster } from './fake-cluster.ts';
import { CrashError } from './fake-faults.ts';

const widgets = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };

describeCluster('the fake cluster', () => {
  const cluster = new FakeCluster({ absent: [widgets], declaresNamespaces: true });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'suite' } };
  return cluster.admin
    .create(kinds.Namespace, namespace)
    .then(() => ({ cluster, namespace: 'suite', close: () => cluster.close() }));
});

const key = (name: string) => ({ namespace: 'n', name });

describe('The fake cluster as a tool of tests', () => {
  test('refuses what the rules do not allow, but never to the admin', async () => {
    const cluster = new FakeCluster({
      access: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'], resourceNames: ['a'] }],
    });
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a'));
    expect(await cluster.get(kinds.ConfigMap, key('a'))).toBeDefined();
    await expect(cluster.get(kinds.ConfigMap, key('b'))).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
    await expect(cluster.list(kinds.ConfigMap)).rejects.toThrow('cannot list resource "configmaps"');
    await expect(
      cluster.patch(kinds.ConfigMap, key('a'), { type: 'merge', body: {} }, { subresource: 'status' }),
    ).rejects.toThrow('cannot patch resource "configmaps/status"');
  });

  test('has connections of the same user, of which each is closed by itself', async () => {
    const cluster = new FakeCluster();
    const [one, other] = [cluster.open(), cluster.open()];
    await one.create(kinds.ConfigMap, configMap('n', 'a'));
    await one.close();
    await expect(one.get(kinds.ConfigMap, key('a'))).rejects.toThrow('the connection has been closed');
    expect(await other.get(kinds.ConfigMap, key('a'))).toBeDefined();
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['create', 'get']);
    cluster.failNext({ verb: 'get' }, new Error('refused'));
    await expect(other.get(kinds.ConfigMap, key('a'))).rejects.toThrow('refused');
  });

  test('requires the verb create also for an apply that creates', async () => {
    const cluster = new FakeCluster({ access: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }] });
    await expect(cluster.apply(kinds.ConfigMap, configMap('n', 'a'), { fieldManager: 'x' })).rejects.toThrow(
      'cannot create',
    );
  });

  test('fails the next matching call once, and records all', async () => {
    const cluster = new FakeCluster();
    cluster.failNext({ verb: 'create', kind: 'ConfigMap' }, new ApiError(500, 'InternalError', 'no'));
    await expect(cluster.create(kinds.ConfigMap, configMap('n', 'a'))).rejects.toThrow('no');
    await cluster.create(kinds.ConfigMap, configMap('n', 'a'));
    expect(cluster.calls.map(({ verb, name }) => `${verb} ${name ?? ''}`)).toEqual(['create a', 'create a']);
  });

  test.each([
    { losesAnswer: false, stored: ['a'] },
    { losesAnswer: true, stored: ['a'] },
  ])('dies after the given number of calls (answer lost: $losesAnswer)', async ({ losesAnswer, stored }) => {
    const cluster = new FakeCluster();
    cluster.crashAfter(1, { losesAnswer });
    const first = cluster.create<ConfigMap>(kinds.ConfigMap, configMap('n', 'a'));
    if (losesAnswer) await expect(first).rejects.toThrow(CrashError);
    else await first;
    await expect(cluster.create(kinds.ConfigMap, configMap('n', 'b'))).rejects.toThrow(CrashError);
    await expect(cluster.get(kinds.ConfigMap, key('a'))).rejects.toThrow(CrashError);
    cluster.restart();
    const { items } = await cluster.list(kinds.ConfigMap);
    expect(items.map((item) => item.metadata.name)).toEqual(stored);
  });

  test('collects dependents when their last owner goes', async () => {
    const cluster = new FakeCluster();
    const make = async (name: string, ...owners: ConfigMap[]): Promise<ConfigMap> => {
      const ownerReferences = owners.map(({ metadata }) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: metadata.name,
        uid: metadata.uid,
      }));
      return cluster.create(kinds.ConfigMap, configMap('n', name, { metadata: { ownerReferences } }));
    };
    const [a, b] = [await make('a'), await make('b')];
    const child = await make('child', a, b);
    await make('grandchild', child);
    await cluster.delete(kinds.ConfigMap, key('a'));
    expect(await cluster.get(kinds.ConfigMap, key('child'))).toBeDefined();
    await cluster.delete(kinds.ConfigMap, key('b'));
    expect((await cluster.list(kinds.ConfigMap)).items).toEqual([]);
  });

  test('foreground deletion waits for dependents that block it', async () => {
    const cluster = new FakeCluster();
    const owner = await cluster.create<ConfigMap>(kinds.ConfigMap, configMap('n', 'owner'));
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion: true },
    ];
    await cluster.create(
      kinds.ConfigMap,
      configMap('n', 'child', { metadata: { ownerReferences, finalizers: ['example.com/hold'] } }),
    );
    await cluster.delete(kinds.ConfigMap, key('owner'), { propagation: 'Foreground' });
    expect((await cluster.get(kinds.ConfigMap, key('owner')))?.metadata.finalizers).toEqual(['foregroundDeletion']);
    await cluster.patch(kinds.ConfigMap, key('child'), { type: 'merge', body: { metadata: { finalizers: [] } } });
    expect((await cluster.list(kinds.ConfigMap)).items).toEqual([]);
  });

  test('answers an old version with 410 after compaction', async () => {
    const cluster = new FakeCluster();
    const { resourceVersion } = await cluster.list(kinds.ConfigMap);
    await cluster.create(kinds.ConfigMap, configMap('n', 'a'));
    cluster.compact();
    const watching = cluster.watch(kinds.ConfigMap, { resourceVersion, signal: new AbortController().signal });
    await expect(watching[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 410 });
  });

  test('keeps nothing of a watch whose reader left at an event', async () => {
    const cluster = new FakeCluster();
    const { signal } = new AbortController();
    const { resourceVersion } = await cluster.list(kinds.ConfigMap);
    await cluster.create(kinds.ConfigMap, configMap('n', 'a'));
    for await (const event of cluster.watch(kinds.ConfigMap, { resourceVersion, signal })) {
      expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
      break;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends watches as a server does, and as a lost connection does', async () => {
    const cluster = new FakeCluster();
    const watchUntil = async (error?: Error): Promise<void> => {
      for await (const event of cluster.watch(kinds.ConfigMap, { signal: new AbortController().signal })) {
        if (event.type === 'SYNC') cluster.endWatches(error);
      }
    };
    await watchUntil();
    await expect(watchUntil(new Error('lost'))).rejects.toThrow('lost');
  });

  test('defaults, prunes and refuses objects of Steward like their CRDs', async () => {
    const cluster = new FakeCluster();
    const store = (spec: unknown): Manifest => ({
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name: 'a' },
      spec,
    });
    await expect(cluster.create(dataStore, store({ driver: 'floppy' }))).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('spec.driver'),
    });
    const spec = { driver: 'PostgreSQL', endpoints: ['db:5432'], unknown: 1 };
    const made = await cluster.create(dataStore, store(spec));
    expect(made.spec).toMatchObject({ driver: 'PostgreSQL', endpoints: ['db:5432'] });
    expect(made.spec).not.toHaveProperty('unknown');
  });

  test('stores a given object with its status', async () => {
    const cluster = new FakeCluster();
    const manifest = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'n' },
      spec: {},
      status: { replicas: 2 },
    };
    expect((await cluster.seed(kinds.Deployment, manifest)).status?.replicas).toBe(2);
    expect(cluster.calls).toEqual([]);
  });
});

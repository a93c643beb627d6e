import { afterEach, describe, expect, test } from '@jest/globals';
import { kinds, type ConfigMap } from '../../api/core/kinds.ts';
import { configMap } from '../../testing/contracts/cluster-under-test.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { ApiError, UnreachableError } from '../client/errors.ts';
import { InformerFactory } from './informer-factory.ts';
import type { Informer } from './informer.ts';
import { silent, type Logger } from '../observe/logger.ts';

const key = (name: string) => ({ namespace: 'n', name });
const widgets = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, namespace: 'n' } });

const open: InformerFactory[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((factory) => factory.close()));
});

interface Setting {
  readonly cluster: FakeCluster;
  readonly clock: FakeClock;
  readonly factory: InformerFactory;
}

function setting(cluster = new FakeCluster(), log: Logger = silent): Setting {
  const clock = new FakeClock();
  const factory = new InformerFactory({ cluster, clock, log, random: () => 0.5 });
  open.push(factory);
  return { cluster, clock, factory };
}

/** The calls of the handler, as `+name`, `~name`, `-name`. */
function told(informer: Informer): string[] {
  const lines: string[] = [];
  informer.subscribe((old, now) => {
    lines.push(`${old === undefined ? '+' : now === undefined ? '-' : '~'}${(now ?? old)?.metadata.name ?? ''}`);
  });
  return lines;
}

const touch = (cluster: FakeCluster, name: string, value: string): Promise<ConfigMap> =>
  cluster.admin.patch(kinds.ConfigMap, key(name), { type: 'merge', body: { data: { value } } });

describe('An informer', () => {
  test('needs no options, and uses the system clock by default', async () => {
    const factory = new InformerFactory({ cluster: new FakeCluster() });
    open.push(factory);
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await informer.synced;
    expect(Math.abs((informer.health().lastEvent ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test('contains the existing objects once it is synced, and follows changes', async () => {
    const { cluster, factory } = setting();
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a', { data: { value: '1' } }));
    const informer = factory.informer({ kind: kinds.ConfigMap });
    const lines = told(informer);
    await informer.synced;
    expect(informer.get(key('a'))?.data).toEqual({ value: '1' });
    await touch(cluster, 'a', '2');
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'b'));
    await cluster.admin.delete(kinds.ConfigMap, key('a'));
    await settle();
    expect(lines).toEqual(['+a', '~a', '+b', '-a']);
    expect(informer.list().map((object) => object.metadata.name)).toEqual(['b']);
    expect(informer.health()).toMatchObject({ synced: true, absent: false, objects: 1, failure: undefined });
  });

  test('stores only the identity if no more is requested, and still reports changes', async () => {
    const { cluster, factory } = setting();
    const metadata = { annotations: { large: 'x'.repeat(1000) }, labels: { a: 'b' } };
    const made = await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a', { data: { x: '1' }, metadata }));
    const informer = factory.informer({ kind: kinds.ConfigMap, identityOnly: true });
    const lines = told(informer);
    await informer.synced;
    const { uid, resourceVersion } = made.metadata;
    expect(informer.get(key('a'))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...key('a'), uid, resourceVersion },
    });
    expect(factory.informer({ kind: kinds.ConfigMap, metadataOnly: true })).not.toBe(informer);
    await touch(cluster, 'a', '2');
    await settle();
    expect(lines).toEqual(['+a', '~a']);
  });

  test('stores frozen objects without managedFields and last-applied', async () => {
    const { cluster, factory } = setting();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' };
    const made = await cluster.admin.create(
      kinds.ConfigMap,
      configMap('n', 'a', { data: { x: '1' }, metadata: { annotations } }),
    );
    expect(made.metadata.managedFields).toBeDefined();
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await informer.synced;
    const held = informer.get(key('a'));
    expect(held?.metadata.managedFields).toBeUndefined();
    expect(held?.metadata.annotations).toEqual({ kept: 'yes' });
    expect(Object.isFrozen(held?.data)).toBe(true);
  });

  test('reports existing objects to a new subscriber, and nothing to a former one', async () => {
    const { cluster, factory } = setting();
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a'));
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await informer.synced;
    expect(told(informer)).toEqual(['+a']);
    let calls = 0;
    const leave = informer.subscribe(() => {
      calls += 1;
    });
    leave();
    await touch(cluster, 'a', '2');
    await settle();
    expect(calls).toBe(1);
  });

  test('is shared by all users of the same selection, and only by them', async () => {
    const { cluster, factory } = setting();
    const one = factory.informer({ kind: kinds.Secret, labelSelector: 'a=b', metadataOnly: true });
    expect(factory.informer({ kind: kinds.Secret, labelSelector: 'a=b', metadataOnly: true })).toBe(one);
    expect(factory.informer({ kind: kinds.Secret, labelSelector: 'a=b' })).not.toBe(one);
    await factory.synced();
    expect(cluster.calls.filter((call) => call.verb === 'watch')).toHaveLength(2);
  });

  test('answers by index, also by one that was added later', async () => {
    const { cluster, factory } = setting();
    const make = (name: string, group: string): Promise<ConfigMap> =>
      cluster.admin.create(kinds.ConfigMap, configMap('n', name, { data: { group } }));
    await make('a', 'x');
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await informer.synced;
    informer.addIndex('group', (object) => [object.data?.group ?? '']);
    await make('b', 'x');
    await make('c', 'y');
    await settle();
    const names = (value: string) => informer.byIndex('group', value).map((object) => object.metadata.name);
    expect([names('x'), names('y'), names('z')]).toEqual([['a', 'b'], ['c'], []]);
    await cluster.admin.patch(kinds.ConfigMap, key('a'), { type: 'merge', body: { data: { group: 'y' } } });
    await cluster.admin.delete(kinds.ConfigMap, key('c'));
    await settle();
    expect([names('x'), names('y')]).toEqual([['b'], ['a']]);
    expect(() => informer.byIndex('typo', 'x')).toThrow(TypeError);
  });

  test('logs an error of a handler and calls the others', async () => {
    const errors: unknown[] = [];
    const { cluster, factory } = setting(undefined, {
      ...silent,
      error: (_message, fields) => errors.push(fields?.error),
    });
    const informer = factory.informer({ kind: kinds.ConfigMap });
    const failure = new Error('no');
    informer.subscribe(() => {
      throw failure;
    });
    const lines = told(informer);
    await informer.synced;
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a'));
    await settle();
    expect(errors).toEqual([failure]);
    expect(lines).toEqual(['+a']);
  });
});

describe('An informer that lost its watch', () => {
  test('continues from its last version, after a clean end and after a broken connection', async () => {
    const { cluster, clock, factory } = setting();
    const informer = factory.informer({ kind: kinds.ConfigMap });
    const lines = told(informer);
    await informer.synced;
    cluster.endWatches();
    await settle();
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a'));
    await clock.advance(500);
    expect(lines).toEqual(['+a']);
    cluster.endWatches(new UnreachableError('reset'));
    await settle();
    expect(informer.health().failure).toBe('reset');
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'b'));
    await clock.advance(1000);
    expect(lines).toEqual(['+a', '+b']);
    expect(informer.health()).toMatchObject({ failure: undefined, failingSince: undefined });
  });

  test('lists again after 410 and reports what was changed, deleted and replaced meanwhile', async () => {
    const { cluster, clock, factory } = setting();
    for (const name of ['same', 'changed', 'gone', 'replaced'])
      await cluster.admin.create(kinds.ConfigMap, configMap('n', name));
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await informer.synced;
    const lines = told(informer);
    lines.length = 0;
    cluster.endWatches();
    await settle();
    await touch(cluster, 'changed', '2');
    await cluster.admin.delete(kinds.ConfigMap, key('gone'));
    await cluster.admin.delete(kinds.ConfigMap, key('replaced'));
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'replaced'));
    cluster.compact();
    await clock.advance(2000);
    expect(lines).toEqual(['~changed', '-replaced', '+replaced', '-gone']);
  });

  test('never gives up, waits longer each time up to 30 s, and reports since when', async () => {
    const { cluster, clock, factory } = setting();
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await informer.synced;
    const since = clock.now().getTime();
    cluster.failNext({ verb: 'watch' }, new UnreachableError('refused'), 20);
    cluster.endWatches(new UnreachableError('refused'));
    await settle();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const wait = clock.nextDueMs ?? 0;
      waits.push(wait);
      await clock.advance(wait);
    }
    expect(waits.slice(0, 4)).toEqual([375, 750, 1500, 3000]);
    expect(Math.max(...waits)).toBe(22_500);
    expect(informer.health()).toMatchObject({ synced: true, failingSince: since, failure: 'refused' });
    await cluster.admin.create(kinds.ConfigMap, configMap('n', 'a'));
    await clock.advance(30_000);
    expect(informer.list()).toHaveLength(1);
    expect(informer.health().failure).toBeUndefined();
  });

  test('waits longer each time if the server ends every watch at once', async () => {
    const { cluster, clock, factory } = setting();
    cluster.after((call) => {
      if (call.verb === 'watch') cluster.endWatches();
    });
    factory.informer({ kind: kinds.ConfigMap });
    await clock.advance(10_000);
    expect(cluster.calls.length).toBeLessThan(30);
  });

  test('waits as long as the server requests', async () => {
    const { cluster, clock, factory } = setting();
    cluster.failNext({ verb: 'watch' }, new ApiError(429, 'TooManyRequests', 'slow down', { retryAfterMs: 7000 }));
    factory.informer({ kind: kinds.ConfigMap });
    await settle();
    expect(clock.nextDueMs).toBe(7000);
  });

  test('refuses more objects than its limit', async () => {
    const { cluster, clock, factory } = setting();
    for (const name of ['a', 'b', 'c']) await cluster.admin.create(kinds.ConfigMap, configMap('n', name));
    const informer = factory.informer({ kind: kinds.ConfigMap, maxObjects: 2 });
    await clock.advance(60_000);
    expect(informer.health()).toMatchObject({
      synced: false,
      objects: 2,
      failure: expect.stringContaining('more than 2'),
    });
    expect(cluster.calls.length).toBeLessThan(12);
    await cluster.admin.delete(kinds.ConfigMap, key('c'));
    await clock.advance(30_000);
    expect(informer.health()).toMatchObject({ synced: true, failure: undefined });
  });

  test('An informer closes at once, even before its first sync', async () => {
    const { cluster, factory } = setting();
    cluster.failNext({ verb: 'watch' }, new UnreachableError('refused'), 100);
    const informer = factory.informer({ kind: kinds.ConfigMap });
    await settle();
    await factory.close();
    await expect(informer.synced).rejects.toThrow('closed before its first sync');
  });
});

describe('An informer of an optional API', () => {
  test('treats an absent API as empty, and finds it when it appears', async () => {
    const { cluster, clock, factory } = setting(new FakeCluster({ absent: [widgets] }));
    const informer = factory.informer({ kind: widgets, optional: true });
    const lines = told(informer);
    await informer.synced;
    expect(informer.health()).toMatchObject({ synced: true, absent: true, failure: undefined });
    cluster.serve(widgets);
    await cluster.admin.create(widgets, widget('a'));
    await clock.advance(29_999);
    expect(lines).toEqual([]);
    await clock.advance(1);
    expect(lines).toEqual(['+a']);
    expect(informer.health().absent).toBe(false);
  });

  test('checks at once when it is notified that APIs appeared', async () => {
    const { cluster, factory } = setting(new FakeCluster({ absent: [widgets] }));
    const informer = factory.informer({ kind: widgets, optional: true });
    await informer.synced;
    cluster.serve(widgets);
    await cluster.admin.create(widgets, widget('a'));
    factory.lookAgain('example.com');
    await settle();
    expect(informer.list()).toHaveLength(1);
  });

  test('reports the deletion of all objects when the API is removed', async () => {
    const { cluster, clock, factory } = setting();
    await cluster.admin.create(widgets, widget('a'));
    const informer = factory.informer({ kind: widgets, optional: true });
    const lines = told(informer);
    await informer.synced;
    cluster.withdraw(widgets);
    cluster.endWatches();
    await clock.advance(1000);
    expect(lines).toEqual(['+a', '-a']);
  });

  test('is refused for an API that must be there for another user of the same informer', () => {
    const { factory } = setting();
    factory.informer({ kind: widgets, optional: true });
    expect(factory.informer({ kind: widgets, optional: true })).toBe(factory.all()[0]);
    expect(() => factory.informer({ kind: widgets })).toThrow('the API of widgets may be absent for one user');
    expect(factory.all()).toHaveLength(1);
  });

  test('An informer of an API that is not optional reports its absence as a failure', async () => {
    const { factory } = setting(new FakeCluster({ absent: [widgets] }));
    const informer = factory.informer({ kind: widgets });
    await settle();
    expect(informer.health()).toMatchObject({
      synced: false,
      absent: true,
      failure: expect.stringContaining('404 page not found'),
    });
  });
});

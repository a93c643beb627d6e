import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { DraftOf, Key, KindRef, Resource } from '../../api/meta.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { Context, Controller, LastReconcile, ReconcileResult } from './controller.ts';
import { ApiError, RetryError, TerminalError } from '../client/errors.ts';
import { EventRecorder, eventKind } from '../observe/event-recorder.ts';
import type { Informer } from '../cache/informer.ts';
import { InformerFactory } from '../cache/informer-factory.ts';
import { currentLogFields } from '../observe/log-context.ts';
import { silent } from '../observe/logger.ts';
import { Manager, type ManagerOptions } from './manager.ts';
import { ObjectMemory } from '../cache/object-memory.ts';
import { recheckable } from '../queue/repeats.ts';
import type { ObjectSlot } from '../cache/object-slot.ts';

interface Tenant extends Resource {
  readonly spec?: { readonly size?: number };
  readonly status?: { readonly size?: number; readonly ready?: boolean; readonly note?: string };
}
const tenantKind: KindRef<Tenant> = {
  group: 'x.io',
  version: 'v1',
  kind: 'Tenant',
  plural: 'tenants',
  namespaced: true,
};
const key = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name });

let clock: FakeClock;
let cluster: FakeCluster;
let informers: InformerFactory;
let manager: Manager | undefined;
let memory: ObjectMemory;
/** What the controller of a test remembers. */
let seen: ObjectSlot<string>;

beforeEach(() => {
  clock = new FakeClock();
  memory = new ObjectMemory();
  seen = memory.slot('seen');
  cluster = new FakeCluster({ now: () => clock.now().getTime(), collectsGarbage: false });
  informers = new InformerFactory({ cluster: cluster.admin, clock, random: () => 0.5 });
});
afterEach(async () => {
  const stopped = manager?.stop(0);
  await clock.advance(10_000);
  await stopped;
  await informers.close();
  manager = undefined;
});

type Reconcile = (object: Tenant, ctx: Context) => ReconcileResult<Tenant> | Promise<ReconcileResult<Tenant>>;
const controllerOf = (reconcile: Reconcile, over: Partial<Controller<Tenant>> = {}): Controller<Tenant> => ({
  name: 'tenant',
  kind: tenantKind,
  watches: [],
  access: [],
  reconcile: async (object, ctx) => reconcile(object, ctx),
  ...over,
});
/** A reconcile that remembers the object. */
const remembering =
  (result: ReconcileResult<Tenant>): Reconcile =>
  ({ metadata }) => {
    seen.set(metadata.uid, 'seen');
    return result;
  };
/** Metrics that note how reconciles failed. */
const notingFailures = (failures: unknown[]): Pick<ManagerOptions, 'metricsOf'> => {
  const nothing = (): undefined => undefined;
  const queue = { depth: nothing, added: nothing, retried: nothing, waited: nothing, worked: nothing };
  const failed = (how: unknown): void => void failures.push(how);
  const reconciles = { limit: nothing, began: nothing, ended: nothing, panicked: nothing, failed };
  return { metricsOf: () => ({ reconciles, queue }) };
};
/** How much all slots remember. */
const remembered = (): number => [...memory.sizes().values()].reduce((sum, size) => sum + size, 0);
const managed = (controller: Controller<Tenant>, over: Partial<ManagerOptions> = {}): Manager => {
  const events = new EventRecorder({
    cluster: cluster.admin,
    clock,
    log: silent,
    controller: 'x.io/test',
    instance: 'a',
    memory,
  });
  const parts = { cluster, informers, clock, log: silent, memory };
  manager = new Manager({ controllers: [controller], ...parts, events, ...over });
  return manager;
};
const tenant = (name: string, over: Partial<DraftOf<Tenant>> = {}): DraftOf<Tenant> => ({
  apiVersion: 'x.io/v1',
  kind: 'Tenant',
  metadata: { name, namespace: 'default' },
  spec: { size: 1 },
  ...over,
});
const create = async (name: string, over: Partial<DraftOf<Tenant>> = {}): Promise<Tenant> => {
  const created = await cluster.seed(tenantKind, tenant(name, over));
  await clock.advance(0);
  return created;
};
const edit = async (name: string, body: unknown): Promise<void> => {
  await cluster.admin.patch(tenantKind, key(name), { type: 'merge', body });
  await clock.advance(0);
};
const read = (name: string): Promise<Tenant | undefined> => cluster.admin.get(tenantKind, key(name));
const writes = (): number => cluster.calls.filter(({ verb }) => verb === 'patch').length;
const started = async (controller: Controller<Tenant>, over: Partial<ManagerOptions> = {}): Promise<void> => {
  const all = managed(controller, over).start();
  await clock.advance(0);
  await all;
  await settle();
};
/** Shows what is there now for ever. */
const informerThatStops = async (real: InformerFactory): Promise<Pick<InformerFactory, 'informer'>> => {
  const informer = real.informer({ kind: tenantKind });
  await clock.advance(0);
  const items = informer.list();
  return {
    informer: () =>
      Object.assign(Object.create(informer) as Informer<never>, {
        synced: Promise.resolve(),
        health: () => informer.health(),
        get: ({ name }: Key) => items.find(({ metadata }) => metadata.name === name),
        subscribe: (handler: (old: undefined, now: Tenant) => void) => {
          for (const item of items) handler(undefined, item);
          return () => undefined;
        },
      }),
  };
};

describe('A reconcile', () => {
  test('writes the difference of the status once, and nothing if there is none', async () => {
    await create('a', { status: { ready: true, note: 'old' } });
    await started(controllerOf(({ spec }) => ({ status: { size: spec?.size ?? 0, ready: false } })));
    expect((await read('a'))?.status).toEqual({ size: 1, ready: false });
    expect(cluster.calls.at(-1)).toMatchObject({ verb: 'patch', subresource: 'status' });
    expect(cluster.calls.at(-1)?.body).toMatchObject({ status: { size: 1, ready: false, note: null } });
    manager?.enqueue('tenant', key('a'));
    await clock.advance(0);
    expect(writes()).toBe(1);
  });

  test('is not repeated for its own status update, but for a change of spec or labels', async () => {
    const seen: number[] = [];
    await create('a');
    await started(
      controllerOf(({ spec }) => {
        seen.push(spec?.size ?? 0);
        return { status: { size: spec?.size ?? 0 } };
      }),
    );
    await clock.advance(1000);
    expect(seen).toEqual([1]);
    await edit('a', { spec: { size: 2 } });
    await edit('a', { metadata: { labels: { x: 'y' } } });
    await clock.advance(1000);
    expect(seen).toEqual([1, 2, 2]);
  });

  test('is not repeated for its own status update if a kind has no generations', async () => {
    let reconciles = 0;
    const { apiVersion, kind } = tenant('a');
    await cluster.seed(tenantKind, { apiVersion, kind, metadata: key('a') });
    await started(
      controllerOf(() => {
        reconciles += 1;
        return { status: { ready: true } };
      }),
    );
    await clock.advance(1000);
    expect((await read('a'))?.status).toEqual({ ready: true });
    expect(reconciles).toBe(1);
  });

  test('computes the next status from its own last write while the cache is behind', async () => {
    await create('a', { status: { size: 1 } });
    const frozen = await informerThatStops(informers);
    let size = 7;
    await started(
      controllerOf(() => ({ status: { size } })),
      { informers: frozen },
    );
    size = 1;
    manager?.enqueue('tenant', key('a'));
    await clock.advance(0);
    expect((await read('a'))?.status).toEqual({ size: 1 });
  });

  test('is repeated if its object changed meanwhile, without counting as a failure', async () => {
    const sizes: number[] = [];
    const failures: unknown[] = [];
    await create('a');
    await started(
      controllerOf(async ({ spec }) => {
        sizes.push(spec?.size ?? 0);
        if (sizes.length === 1)
          await cluster.admin.patch(tenantKind, key('a'), { type: 'merge', body: { spec: { size: 2 } } });
        return { status: { size: spec?.size ?? 0 } };
      }),
      notingFailures(failures),
    );
    await clock.advance(1000);
    expect([sizes.at(-1), failures]).toEqual([2, []]);
    expect((await read('a'))?.status).toEqual({ size: 2 });
  });

  test.each<[string, unknown, number[]]>([
    ['is never repeated after a terminal error', new TerminalError('Bad', 'bad'), [0]],
    ['is repeated at the pace of a known cause', new RetryError('Busy', 'busy', 700), [0, 700, 1400]],
    ['is repeated with backoff after any other error', new Error('boom'), [0, 5, 15, 35]],
    [
      'is repeated when a busy server says',
      new ApiError(429, 'TooManyRequests', 'later', { retryAfterMs: 900 }),
      [0, 900],
    ],
  ])('%s, and its status is written all the same', async (_, error, times) => {
    const seen: number[] = [];
    await create('a');
    const start = clock.monotonic();
    await started(
      controllerOf(() => {
        seen.push(clock.monotonic() - start);
        return { status: { note: 'failed' }, error };
      }),
    );
    for (let ms = 0; ms < 1500; ms += 5) await clock.advance(5);
    expect(seen.slice(0, times.length)).toEqual(times);
    if (times.length < 3) expect(seen).toHaveLength(times.length);
    expect((await read('a'))?.status).toEqual({ note: 'failed' });
  });

  test.each<[string, unknown, number]>([
    ['is repeated if its status cannot be written', undefined, 2],
    ['is not repeated after a terminal error if its status cannot be written', new TerminalError('Bad', 'bad'), 1],
  ])('%s', async (_, error, times) => {
    let reconciles = 0;
    await create('a');
    cluster.failNext({ verb: 'patch', subresource: 'status' }, new ApiError(500, 'InternalError', 'broken'));
    await started(
      controllerOf(() => {
        reconciles += 1;
        return { status: { note: 'done' }, error };
      }),
    );
    await clock.advance(1000);
    expect(reconciles).toBe(times);
  });

  test('is retried if it throws, and repeated later if it requests that', async () => {
    let reconciles = 0;
    await create('a');
    await started(
      controllerOf(() => {
        reconciles += 1;
        if (reconciles === 1) throw new Error('thrown');
        return reconciles === 2 ? { afterMs: 60_000 } : {};
      }),
    );
    await clock.advance(5);
    expect(reconciles).toBe(2);
    await clock.advance(59_000);
    expect(reconciles).toBe(2);
    await clock.advance(1000);
    expect(reconciles).toBe(3);
  });

  test('is aborted at its deadline and counted as late', async () => {
    const failures: unknown[] = [];
    await create('a');
    await started(
      controllerOf(
        (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          }),
        { timeoutMs: 2000 },
      ),
      notingFailures(failures),
    );
    await clock.advance(1999);
    expect(failures).toEqual([]);
    await clock.advance(1);
    expect(failures).toEqual([{ terminal: false, timedOut: true }]);
  });

  test('adds its fields to every line that it logs', async () => {
    let fields: unknown;
    await create('a');
    await started(
      controllerOf(() => {
        fields = currentLogFields();
        return {};
      }),
    );
    expect(fields).toEqual({
      controller: 'tenant',
      controllerGroup: 'x.io',
      controllerKind: 'Tenant',
      namespace: 'default',
      name: 'a',
      reconcileID: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    });
    expect(currentLogFields()).toEqual({});
  });

  test('records Events on the object', async () => {
    await create('a');
    await started(
      controllerOf((_, ctx) => {
        ctx.event('Warning', 'NoStore', 'the store is away');
        return {};
      }),
    );
    const { items } = await cluster.admin.list(eventKind);
    expect(items[0]).toMatchObject({
      reason: 'NoStore',
      note: 'the store is away',
      regarding: { kind: 'Tenant', name: 'a' },
    });
  });
});

describe('finalizers', () => {
  const finalizers = ['x.io/a', 'x.io/b'];

  test('are added before the first reconcile, beside those of others', async () => {
    const seen: unknown[] = [];
    await create('a', { metadata: { name: 'a', namespace: 'default', finalizers: ['other'] } });
    await started(
      controllerOf(
        ({ metadata }) => {
          seen.push(metadata.finalizers);
          return {};
        },
        { finalizers },
      ),
    );
    await clock.advance(100);
    expect(seen[0]).toEqual(['other', ...finalizers]);
    expect((await read('a'))?.metadata.finalizers).toEqual(['other', ...finalizers]);
  });

  test('are removed when the last reconcile is finished, and not before', async () => {
    let finished = false;
    const finalize = (): Promise<LastReconcile<Tenant>> =>
      Promise.resolve({ finished, status: { note: 'leaving' }, ...(finished ? {} : { afterMs: 100 }) });
    await create('a');
    await started(controllerOf(() => ({}), { finalizers, finalize }));
    await cluster.admin.delete(tenantKind, key('a'));
    await clock.advance(50);
    expect((await read('a'))?.status).toEqual({ note: 'leaving' });
    finished = true;
    await clock.advance(100);
    expect(await read('a')).toBeUndefined();
  });

  test('stay if the last reconcile fails', async () => {
    const finalize = (): Promise<LastReconcile<Tenant>> =>
      Promise.resolve({ finished: true, error: new TerminalError('Stuck', 'store is away') });
    await create('a');
    await started(controllerOf(() => ({}), { finalizers, finalize }));
    await cluster.admin.delete(tenantKind, key('a'));
    await clock.advance(1000);
    expect((await read('a'))?.metadata.finalizers).toEqual(finalizers);
  });

  test('an object that is being deleted without our finalizer is not reconciled', async () => {
    let reconciles = 0;
    await create('a', { metadata: { name: 'a', namespace: 'default', finalizers: ['other'] } });
    await cluster.admin.delete(tenantKind, key('a'));
    await started(
      controllerOf(
        () => {
          reconciles += 1;
          return {};
        },
        { finalizers },
      ),
    );
    expect(reconciles).toBe(0);
  });
});

describe('The manager', () => {
  test('reconciles nothing before all caches are synced', async () => {
    let reconciles = 0;
    await create('a');
    const gate = Promise.withResolvers<undefined>();
    cluster.before(() => undefined);
    informers = new InformerFactory({
      cluster: Object.assign(Object.create(cluster.admin) as typeof cluster.admin, {
        watch: async function* (kind: KindRef, options: never) {
          if (kind.kind === 'Secret') await gate.promise;
          yield* cluster.admin.watch(kind, options);
        },
      }),
      clock,
      random: () => 0.5,
    });
    const start = managed(
      controllerOf(
        () => {
          reconciles += 1;
          return {};
        },
        { watches: [{ kind: kinds.Secret, metadataOnly: true, keys: () => [] }] },
      ),
    ).start();
    await clock.advance(30_000);
    expect(reconciles).toBe(0);
    expect(manager?.checks()[0]?.check()).toBe('secrets: not complete yet');
    gate.resolve(undefined);
    await start;
    await settle();
    expect(reconciles).toBe(1);
    expect(manager?.checks()[0]?.check()).toBeUndefined();
  });

  test('reports which definition and which permission its caches lack, and begins when they exist', async () => {
    const other: KindRef = { group: 'x.io', version: 'v1', kind: 'Other', plural: 'others', namespaced: true };
    cluster = new FakeCluster({ access: [], absent: [other] });
    let rights = false;
    informers = new InformerFactory({
      cluster: Object.assign(Object.create(cluster.admin) as typeof cluster.admin, {
        watch: (kind: KindRef, options: never) => {
          const isAllowed = kind.kind !== tenantKind.kind || rights;
          return (isAllowed ? cluster.admin : cluster).watch(kind, options);
        },
      }),
      clock,
      random: () => 0.5,
    });
    const starting = managed(controllerOf(() => ({}), { watches: [{ kind: other, keys: () => [] }] })).start();
    await clock.advance(5_000);
    expect(manager?.waitsFor()).toEqual([
      expect.stringMatching(/^tenants\.x\.io: .*forbidden/),
      'others.x.io: there is no such API; is its CustomResourceDefinition installed?',
    ]);
    cluster.serve(other);
    rights = true;
    await clock.advance(60_000);
    await starting;
    expect(manager?.waitsFor()).toEqual([]);
  });

  test('starts without the API of an optional controller, and reconciles its objects once that exists', async () => {
    cluster = new FakeCluster({ access: [], absent: [tenantKind] });
    informers = new InformerFactory({ cluster: cluster.admin, clock, random: () => 0.5 });
    const names: string[] = [];
    const reconcile: Reconcile = ({ metadata }) => {
      names.push(metadata.name);
      return {};
    };
    await started(controllerOf(reconcile, { optional: true }));
    cluster.serve(tenantKind);
    await create('a');
    await clock.advance(120_000);
    expect(names).toEqual(['a']);
  });

  test('reconciles the keys that a watched object concerns', async () => {
    const seen: string[] = [];
    await create('a');
    await create('b');
    await started(
      controllerOf(
        ({ metadata }) => {
          seen.push(metadata.name);
          return {};
        },
        { watches: [{ kind: kinds.Secret, keys: (old, now) => [key((now ?? old)?.metadata.labels?.tenant ?? '')] }] },
      ),
    );
    seen.length = 0;
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'default', labels: { tenant: 'b' } },
    };
    await cluster.seed(kinds.Secret, secret);
    await clock.advance(0);
    expect(seen).toEqual(['b']);
  });

  test('follows exactly what a watch selects, and finds what it has told in the cache of that selection', async () => {
    const requests = { kind: kinds.ConfigMap, namespace: 'default', fieldSelector: 'metadata.name=requests' };
    const found: (string | undefined)[] = [];
    await create('a');
    await started(
      controllerOf(
        () => {
          found.push(informers.informer(requests).get(key('requests'))?.data?.a);
          return {};
        },
        { watches: [{ ...requests, keys: () => [key('a')] }] },
      ),
    );
    found.length = 0;
    const configMap = (name: string) => {
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { a: 'now' } };
    };
    for (const name of ['other', 'requests']) {
      await cluster.seed(kinds.ConfigMap, configMap(name));
      await clock.advance(0);
    }
    expect(found).toEqual(['now']);
    expect(informers.all().filter(({ kind }) => kind === kinds.ConfigMap)).toHaveLength(1);
  });

  test('gives an edit priority over the initial list', async () => {
    const order: string[] = [];
    for (let n = 0; n < 20; n += 1) await create(`t${n}`);
    const gates: (() => void)[] = [];
    await started(
      controllerOf(
        async ({ metadata }) => {
          order.push(metadata.name);
          await new Promise<void>((resolve) => gates.push(resolve));
          return {};
        },
        { concurrency: 1 },
      ),
    );
    await edit('t19', { spec: { size: 9 } });
    gates.shift()?.();
    await settle();
    expect(order).toEqual(['t0', 't19']);
    while (gates.length > 0) {
      gates.shift()?.();
      await settle();
    }
  });

  test('handles changes of watched objects in order once it has begun', async () => {
    const order: string[] = [];
    let gate = Promise.resolve<undefined>(undefined);
    for (const name of ['a', 'b', 'c']) await create(name);
    const reconcile: Reconcile = async ({ metadata }) => {
      order.push(metadata.name);
      await gate;
      return {};
    };
    const watches = [{ kind: kinds.Secret, keys: () => [key('c')] }];
    await started(controllerOf(reconcile, { concurrency: 1, watches }));
    order.length = 0;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    gate = promise;
    manager?.enqueue('tenant', key('a'));
    await settle();
    await cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: key('s') });
    await clock.advance(0);
    manager?.enqueue('tenant', key('b'));
    resolve(undefined);
    await settle();
    expect(order).toEqual(['a', 'c', 'b']);
  });

  test('does not reconcile paused objects, logs why once, and continues afterwards', async () => {
    let reconciles = 0;
    await create('a', { metadata: { name: 'a', namespace: 'default', annotations: { paused: 'true' } } });
    await started(
      controllerOf(
        () => {
          reconciles += 1;
          return {};
        },
        { paused: ({ metadata }) => (metadata.annotations?.paused === undefined ? undefined : 'annotation paused') },
      ),
    );
    await edit('a', { spec: { size: 3 } });
    expect(reconciles).toBe(0);
    await edit('a', { metadata: { annotations: { paused: null } } });
    expect(reconciles).toBe(1);
    const reasons = (await cluster.admin.list(eventKind)).items.map((event) => 'reason' in event && event.reason);
    expect(reasons.sort()).toEqual(['Paused', 'Resumed']);
  });

  test('writes what a kind says about a pause into the status, once', async () => {
    await create('a', { metadata: { name: 'a', namespace: 'default', annotations: { paused: 'on request' } } });
    await started(
      controllerOf(() => ({ status: { note: 'reconciled' } }), {
        paused: ({ metadata }) => metadata.annotations?.paused,
        whilePaused: (_, { why }) => ({ status: { note: `paused ${why}` } }),
      }),
    );
    expect((await read('a'))?.status).toEqual({ note: 'paused on request' });
    const patches = cluster.calls.length;
    await edit('a', { metadata: { labels: { touched: 'yes' } } });
    expect(cluster.calls.slice(patches).filter(({ verb }) => verb === 'patch')).toEqual([]);
    await edit('a', { metadata: { annotations: { paused: null } } });
    expect((await read('a'))?.status).toEqual({ note: 'reconciled' });
  });

  test('does not reconcile objects of another manager and adds no finalizer', async () => {
    let reconciles = 0;
    await create('a', { metadata: { name: 'a', namespace: 'default', labels: { of: 'another' } } });
    await started(
      controllerOf(
        () => {
          reconciles += 1;
          return {};
        },
        { finalizers: ['test.example.com/ours'], serves: ({ metadata }) => metadata.labels?.of === 'us' },
      ),
    );
    expect(reconciles).toBe(0);
    expect((await cluster.admin.get(tenantKind, key('a')))?.metadata.finalizers).toBeUndefined();
    await edit('a', { metadata: { labels: { of: 'us' } } });
    expect(reconciles).toBe(1);
    expect((await cluster.admin.get(tenantKind, key('a')))?.metadata.finalizers).toEqual(['test.example.com/ours']);
  });

  test('forgets objects that another manager is responsible for from now on', async () => {
    const isOurs = ({ metadata }: Resource) => metadata.labels?.of !== 'another';
    await create('a');
    await started(controllerOf(remembering({ afterMs: 1e9 }), { serves: isOurs }));
    const idle = clock.pending;
    expect(seen.size).toBe(1);
    await edit('a', { metadata: { labels: { of: 'another' } } });
    expect(remembered()).toBe(0);
    expect(clock.pending).toBeLessThan(idle);
  });

  test('forgets deleted objects: no timer, no retry and no memory is left', async () => {
    await create('a');
    await started(controllerOf(remembering({ afterMs: 1e9, error: new Error('boom') })));
    const idle = clock.pending;
    expect(seen.size).toBe(1);
    await cluster.admin.delete(tenantKind, key('a'));
    await clock.advance(0);
    expect(remembered()).toBe(0);
    expect(clock.pending).toBeLessThan(idle);
  });

  test('remembers nothing of an object that has gone when something that concerned it changes afterwards', async () => {
    await create('a');
    const watches = [{ kind: kinds.Secret, keys: () => [key('a')] }];
    await started(controllerOf(remembering({}), { watches }));
    await cluster.admin.delete(tenantKind, key('a'));
    await clock.advance(0);
    const metadata = { name: 'left-over', namespace: 'default' };
    await cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    await clock.advance(0);
    expect(manager?.remembered()).toBe(0);
  });

  test('remembers nothing of an object that goes while a refused request of it is repeated', async () => {
    const { promise: held, resolve: answer } = Promise.withResolvers<boolean>();
    let isRepeated = false;
    const error = recheckable('refused', () => {
      isRepeated = true;
      return held;
    });
    await create('a');
    await started(controllerOf(remembering({ error })));
    await clock.advance(10_000);
    expect(isRepeated).toBe(true);
    await cluster.admin.delete(tenantKind, key('a'));
    await clock.advance(0);
    answer(false);
    await settle();
    await clock.advance(120_000);
    expect(manager?.remembered()).toBe(0);
  });

  test('starts no reconcile when it is stopped while a refused request is repeated, which succeeds then', async () => {
    const { promise: held, resolve: answer } = Promise.withResolvers<boolean>();
    let reconciles = 0;
    let isRepeated = false;
    const error = recheckable('refused', () => {
      isRepeated = true;
      return held;
    });
    const refused: Reconcile = () => {
      reconciles += 1;
      return { error };
    };
    await create('a');
    await started(controllerOf(refused));
    await clock.advance(10_000);
    expect(isRepeated).toBe(true);
    const before = reconciles;
    const stopped = manager?.stop(0);
    await clock.advance(0);
    answer(true);
    await settle();
    await clock.advance(10_000);
    await stopped;
    expect(reconciles).toBe(before);
  });

  test('forgets an object that another one of its name replaced, and remembers the new one', async () => {
    const uidOf = async () => (await read('a'))?.metadata.uid ?? '';
    await create('a');
    await started(controllerOf(remembering({})));
    const before = await uidOf();
    await cluster.admin.delete(tenantKind, key('a'));
    await create('a');
    expect([seen.has(before), seen.has(await uidOf())]).toEqual([false, true]);
  });

  test('leaves nothing in memory of an object that is deleted during its reconcile', async () => {
    const { promise: held, resolve: end } = Promise.withResolvers<undefined>();
    await create('a');
    await started(
      controllerOf(async (object, ctx) => {
        await held;
        ctx.event('Normal', 'Late', 'the object has gone');
        seen.set(object.metadata.uid, 'late');
        return { afterMs: 1e9, status: { size: 1 } };
      }),
    );
    await cluster.admin.delete(tenantKind, key('a'));
    await clock.advance(0);
    end(undefined);
    await settle();
    await clock.advance(0);
    expect([...memory.sizes()].filter(([, size]) => size > 0)).toEqual([]);
  });

  test('stops gracefully: running reconciles end, new keys are not accepted', async () => {
    const ends: (() => void)[] = [];
    let aborted = false;
    let reconciles = 0;
    await create('a');
    await started(
      controllerOf(async (_, { signal }) => {
        reconciles += 1;
        await new Promise<void>((resolve) => ends.push(resolve));
        aborted = signal.aborted;
        return { status: { note: 'done' } };
      }),
    );
    let stopped = false;
    const stop = manager?.stop(20_000).then((isAtRest) => {
      stopped = true;
      return isAtRest;
    });
    await create('b');
    await clock.advance(10_000);
    expect(stopped).toBe(false);
    ends[0]?.();
    expect(await stop).toBe(true);
    expect({ aborted, reconciles }).toEqual({ aborted: false, reconciles: 1 });
    expect((await read('a'))?.status).toEqual({ note: 'done' });
  });

  test('aborts at the end of the grace period and does not wait for a reconcile that ignores it, but reports it', async () => {
    let reason: unknown;
    await create('a');
    await started(
      controllerOf(
        (_, { signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => (reason = signal.reason as unknown));
          }),
      ),
    );
    const stopping = manager?.stop(5000, 'leadership is lost');
    await clock.advance(4999);
    expect(reason).toBeUndefined();
    await clock.advance(1);
    expect((reason as Error).message).toBe('leadership is lost');
    await clock.advance(5000);
    expect(await stopping).toBe(false);
  });

  test('refuses two controllers of one name', () => {
    const one = controllerOf(() => ({}));
    expect(() => managed(one, { controllers: [one, one] })).toThrow('two controllers are named tenant');
  });
});

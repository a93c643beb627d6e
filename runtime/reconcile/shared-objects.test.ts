import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { kinds, type ConfigMap } from '../../api/core/kinds.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { Informer } from '../cache/informer.ts';
import { InformerFactory } from '../cache/informer-factory.ts';
import { ObjectMemory } from '../cache/object-memory.ts';
import { EventRecorder } from '../observe/event-recorder.ts';
import { silent } from '../observe/logger.ts';
import { Metrics } from '../observe/metrics.ts';
import type { KeyShare } from '../shards/key-share.ts';
import type { Controller } from './controller.ts';
import { Manager } from './manager.ts';

const namespace = 'default';
const keyOf = (name: string): string => `${namespace}/${name}`;

/** What others leave to this process, as a test says. */
class GivenShare implements KeyShare {
  readonly running: string[] = [];
  #own = new Set<string>();
  readonly #listeners = new Set<() => void>();

  give(...names: string[]): void {
    this.#own = new Set(names.map(keyOf));
    for (const changed of this.#listeners) changed();
  }

  owns(key: string): boolean {
    return this.#own.has(key);
  }

  begin(key: string): (() => void) | undefined {
    if (!this.owns(key)) return undefined;
    this.running.push(key);
    return () => void this.running.splice(this.running.indexOf(key), 1);
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }
}

let clock: FakeClock;
let cluster: FakeCluster;
let informers: InformerFactory;
let memory: ObjectMemory;
let share: GivenShare;
let manager: Manager;
let metrics: Metrics;
/** What each reconcile saw, `name=value`. */
let seen: string[];
/** What reconciles wait for. */
let gate: Promise<void>;

const start = async (
  reading: Pick<InformerFactory, 'informer'> = informers,
  over: Partial<Controller<ConfigMap>> = {},
): Promise<void> => {
  const remembered = memory.slot<string>('seen');
  const controller: Controller<ConfigMap> = {
    ...{ name: 'test', kind: kinds.ConfigMap, watches: [], access: [] },
    reconcile: async ({ metadata, data }) => {
      seen.push(`${metadata.name}=${data?.value ?? ''}`);
      remembered.set(metadata.uid, 'seen');
      await gate;
      return { afterMs: 60_000 };
    },
    ...over,
  };
  const parts = { cluster, informers: reading, clock, log: silent, memory, share };
  const events = new EventRecorder({ ...parts, controller: 'x.io/test', instance: 'a' });
  manager = new Manager({
    controllers: [controller],
    ...parts,
    events,
    metricsOf: (name) => metrics.ofController(name),
  });
  const started = manager.start();
  await clock.advance(0);
  await started;
  await settle();
};

const put = async (name: string, value: string): Promise<void> => {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { value } };
  await cluster.admin.apply(kinds.ConfigMap, manifest, { fieldManager: 'test' });
  await clock.advance(0);
};

const give = async (...names: string[]): Promise<void> => {
  share.give(...names);
  await clock.advance(0);
};

const reads = (): number => cluster.calls.filter(({ verb }) => verb === 'get').length;

beforeEach(() => {
  clock = new FakeClock();
  cluster = new FakeCluster({ now: () => clock.now().getTime() });
  informers = new InformerFactory({ cluster: cluster.admin, clock, random: () => 0.5 });
  memory = new ObjectMemory();
  share = new GivenShare();
  metrics = new Metrics({ process: false });
  seen = [];
  gate = Promise.resolve();
});

afterEach(async () => {
  const stopped = manager.stop(0);
  await clock.advance(10_000);
  await stopped;
  await informers.close();
});

describe('A manager that shares objects with others', () => {
  test('reconciles only its own ones, those that it gets, and no longer those that it loses', async () => {
    for (const name of ['a', 'b']) await put(name, '1');
    await start();
    expect(seen).toEqual([]);
    await give('a');
    expect(seen).toEqual(['a=1']);
    await put('b', '2');
    await give('a', 'b');
    expect(seen).toEqual(['a=1', 'b=2']);
    await give('b');
    await put('a', '3');
    await clock.advance(120_000);
    expect(seen.filter((one) => one.startsWith('a'))).toEqual(['a=1']);
  });

  test('reconciles an own object that is created later, and one whose change is reported by a watch', async () => {
    const watches = [
      {
        kind: kinds.Secret,
        keys: () => [
          { namespace, name: 'a' },
          { namespace, name: 'b' },
        ],
      },
    ];
    await start(informers, { watches });
    await give('a');
    await put('a', '1');
    await put('b', '1');
    expect(seen).toEqual(['a=1']);
    await cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'x' } });
    await clock.advance(0);
    expect(seen).toEqual(['a=1', 'a=1']);
  });

  test('forgets all about an object that it loses, at the end of a reconcile that runs', async () => {
    for (const name of ['a', 'b']) await put(name, '1');
    await start();
    await give('a');
    const { promise, resolve } = Promise.withResolvers<undefined>();
    gate = promise.then(() => undefined);
    await give('a', 'b');
    expect(memory.sizes().get('seen')).toBe(2);
    await give();
    expect(memory.sizes().get('seen')).toBe(1);
    expect(share.running).toEqual([keyOf('b')]);
    resolve(undefined);
    await clock.advance(0);
    expect(share.running).toEqual([]);
    expect(memory.sizes().get('seen')).toBe(0);
    expect(manager.remembered()).toBe(0);
  });

  test('reads an object once after it became its own, because the cache may be behind its former owner', async () => {
    await put('a', 'old');
    const informer = informers.informer({ kind: kinds.ConfigMap });
    await clock.advance(0);
    const old = informer.list();
    const behind = Object.assign(Object.create(informer) as Informer<never>, {
      synced: Promise.resolve(),
      health: () => informer.health(),
      list: () => old,
      get: () => old[0],
      subscribe: () => () => undefined,
    });
    await put('a', 'new');
    await start({ informer: () => behind });
    await give('a');
    expect(seen).toEqual(['a=new']);
    await clock.advance(60_000);
    expect([seen.length, reads()]).toEqual([2, 1]);
    await give();
    await give('a');
    expect([seen.length, reads()]).toEqual([3, 2]);
  });

  test('does not reconcile an object that it cannot read, and tries again', async () => {
    await put('a', '1');
    cluster.failNext({ verb: 'get' }, new Error('no answer'), 2);
    await start();
    await give('a');
    expect(seen).toEqual([]);
    await clock.advance(1000);
    expect(seen).toEqual(['a=1']);
  });

  test('reports how many objects are its own', async () => {
    for (const name of ['a', 'b', 'c']) await put(name, '1');
    await start();
    await give('a', 'b');
    expect(await metrics.registry.getSingleMetricAsString('steward_shard_objects')).toContain('{controller="test"} 2');
  });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Condition, KindRef, Resource } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { Controller } from './controller.ts';
import { lostFields } from './definition-outdated.ts';
import { silent } from '../observe/logger.ts';
import { ObjectMemory } from '../cache/object-memory.ts';
import { Reconciler } from './reconciler.ts';
import type { ReconcileOutcome } from './reconciler.ts';

interface Thing extends Resource {
  readonly status?: Record<string, unknown> & { readonly conditions?: readonly Condition[] };
}
const kind: KindRef<Thing> = { group: 'x.io', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const key = { namespace: 'default', name: 'a' };

describe('lost fields of a sent status', () => {
  test.each<[string, unknown, unknown, readonly string[]]>([
    ['are all there', { a: 1, list: [{ b: 1 }] }, { a: 1, list: [{ b: 1 }], defaulted: true }, []],
    ['have another value', { a: '1' }, { a: '2' }, []],
    ['are lost', { a: 1, deep: { b: {}, c: 0 } }, { deep: { c: 0 } }, ['status.a', 'status.deep.b']],
    ['are lost in a list', { list: [{ b: 1 }, { b: 2, c: 1 }] }, { list: [{}, { c: 1 }] }, ['status.list[].b']],
    ['are lost altogether', { a: 1 }, undefined, ['status']],
    ['were not meant', { a: undefined, b: null }, {}, []],
  ])('%s', (_how, sent, stored, lost) => {
    expect(lostFields(sent, stored, 'status')).toEqual(lost);
  });
});

describe('An object whose definition is older than the manager', () => {
  const clock = new FakeClock();
  /** Fields of the status that the API server does not know. */
  let unknown: readonly string[] = [];
  let events: string[] = [];
  let cluster: FakeCluster;
  let reconciler: Reconciler;
  const ready: Condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  };

  beforeEach(async () => {
    unknown = ['record'];
    events = [];
    cluster = new FakeCluster({
      now: () => clock.now().getTime(),
      admit: (_kind, object) => {
        const status = 'status' in object ? Object.entries(object.status as object) : [];
        return { ...object, status: Object.fromEntries(status.filter(([name]) => !unknown.includes(name))) };
      },
    });
    const controller: Controller<Thing> = {
      name: 'thing',
      kind,
      watches: [],
      access: [],
      reconcile: () => Promise.resolve({ status: { record: 'x', conditions: [ready] }, afterMs: 0 }),
    };
    reconciler = new Reconciler({
      controller,
      cluster,
      clock,
      memory: new ObjectMemory(),
      events: { record: (_object, { reason, message }) => void events.push(`${reason}: ${message}`) },
      stop: new AbortController().signal,
      wrote: () => undefined,
    });
    await cluster.seed(kind, { apiVersion: 'x.io/v1', kind: 'Thing', metadata: key });
  });

  const read = async (): Promise<Thing> => {
    const found = await cluster.admin.get(kind, key);
    if (found === undefined) throw new Error('it is gone');
    return found;
  };
  const reconcile = async (): Promise<ReconcileOutcome> => reconciler.reconcile(await read(), silent);
  const condition = async (): Promise<Condition | undefined> =>
    (await read()).status?.conditions?.find(({ type }) => type === 'DefinitionOutdated');

  test('is reported once with the lost fields and the fix, and is reconciled at most once a minute', async () => {
    expect(await reconcile()).toMatchObject({ outdated: true, progressed: true });
    expect(await condition()).toMatchObject({ status: 'True', reason: 'FieldsLost' });
    expect((await condition())?.message).toMatch(
      /does not store status\.record of this Thing.*CustomResourceDefinitions/,
    );
    const { resourceVersion } = (await read()).metadata;
    for (let n = 0; n < 5; n += 1) expect(await reconcile()).toMatchObject({ outdated: true, progressed: false });
    expect((await read()).metadata.resourceVersion).toBe(resourceVersion);
    expect(events).toHaveLength(1);
  });

  test('is no longer reported when the definition is as new as the manager', async () => {
    await reconcile();
    unknown = [];
    expect((await reconcile()).outdated).toBeUndefined();
    expect(await condition()).toBeUndefined();
    expect((await read()).status).toEqual({ record: 'x', conditions: [ready] });
    expect((await reconcile()).progressed).toBe(false);
  });

  test('is reported in an Event if not even conditions are stored', async () => {
    unknown = ['record', 'conditions'];
    expect(await reconcile()).toMatchObject({ outdated: true, progressed: false });
    expect(events[0]).toMatch(/^DefinitionOutdated: .*status\.conditions, status\.record/);
  });
});

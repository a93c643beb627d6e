import { beforeEach, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { ObjectMemory } from '../cache/object-memory.ts';
import type { Resource } from '../../api/meta.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { ApiError } from '../client/errors.ts';
import { EventRecorder, eventKind } from './event-recorder.ts';
import { silent } from './logger.ts';

let clock: FakeClock;
let cluster: FakeCluster;
let recorder: EventRecorder;
let memory: ObjectMemory;
const object: Resource = {
  apiVersion: 'x.io/v1',
  kind: 'Tenant',
  metadata: storedMeta({ name: 'a', namespace: 'ns', uid: 'u' }),
};
const note = { type: 'Warning', reason: 'NoStore', message: 'the store is away' } as const;
const events = async (): Promise<readonly Resource[]> => (await cluster.admin.list(eventKind)).items;

beforeEach(() => {
  clock = new FakeClock();
  cluster = new FakeCluster({ collectsGarbage: false });
  memory = new ObjectMemory();
  recorder = new EventRecorder({
    memory,
    cluster,
    clock,
    log: silent,
    controller: 'x.io/manager',
    instance: 'pod-1',
  });
});

test('an Event names the object, what happened, and its reporter', async () => {
  recorder.record(object, note);
  await recorder.flush();
  expect(await events()).toMatchObject([
    {
      metadata: { namespace: 'ns', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) as unknown },
      eventTime: '2030-01-01T00:00:00.000000Z',
      type: 'Warning',
      reason: 'NoStore',
      note: 'the store is away',
      action: 'Reconcile',
      regarding: { apiVersion: 'x.io/v1', kind: 'Tenant', name: 'a', namespace: 'ns', uid: 'u' },
      reportingController: 'x.io/manager',
      reportingInstance: 'pod-1',
    },
  ]);
});

test('equal Events are counted in one, which is sent now and then', async () => {
  for (let n = 0; n < 50; n += 1) recorder.record(object, note);
  await clock.advance(10_000);
  for (let n = 0; n < 50; n += 1) recorder.record(object, note);
  await recorder.flush();
  expect(await events()).toMatchObject([{ series: { count: 100, lastObservedTime: '2030-01-01T00:00:10.000000Z' } }]);
  expect(cluster.calls.map(({ verb }) => verb)).toEqual(['create', 'patch', 'patch']);
  expect(clock.pending).toBe(0);
});

test('an Event that has not occurred for long is created again', async () => {
  recorder.record(object, note);
  await clock.advance(7 * 60_000);
  recorder.record(object, note);
  await recorder.flush();
  expect(await events()).toHaveLength(2);
});

test('an object with many Events is limited, and others are not', async () => {
  for (let n = 0; n < 40; n += 1) recorder.record(object, { ...note, message: `m${n}` });
  recorder.record({ ...object, metadata: storedMeta({ name: 'b', namespace: 'ns', uid: 'v' }) }, note);
  await recorder.flush();
  expect([(await events()).length, recorder.dropped]).toEqual([26, 15]);
  await clock.advance(300_000);
  recorder.record(object, { ...note, message: 'later' });
  await recorder.flush();
  expect(await events()).toHaveLength(27);
});

test('an API server that refuses Events does not affect the caller', async () => {
  cluster.failNext({ verb: 'create' }, new ApiError(500, 'InternalError', 'no'));
  recorder.record(object, note);
  recorder.record(object, { ...note, reason: 'Other' });
  await recorder.flush();
  expect(await events()).toHaveLength(1);
});

test('Events of cluster-scoped objects and long texts are accepted', async () => {
  recorder.record(
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n'.repeat(253), uid: 'n', resourceVersion: '1' } },
    { ...note, message: 'x'.repeat(3000) },
  );
  await recorder.flush();
  const [event] = await events();
  expect(event?.metadata.namespace).toBe('default');
  expect(event?.metadata.name.length).toBeLessThanOrEqual(253);
  expect(event).toMatchObject({ note: expect.stringMatching(/^x{1021}…$/) as unknown });
});

test('a text is truncated at the end of a character, by its bytes, which the API counts', async () => {
  recorder.record(object, { ...note, message: 'ä'.repeat(512) });
  recorder.record(object, { ...note, message: `x${'🙂'.repeat(300)}` });
  await recorder.flush();
  const notes = (await events()).map((event) => (event as { note?: string }).note);
  expect(new Set(notes)).toEqual(new Set(['ä'.repeat(512), `x${'🙂'.repeat(255)}…`]));
});

test('when an object is forgotten, its last count is sent at once, and its next Event is a new one', async () => {
  recorder.record(object, note);
  recorder.record(object, note);
  memory.drop('u');
  expect(clock.pending).toBe(0);
  await clock.advance(1_000);
  expect(await events()).toMatchObject([{ series: { count: 2 } }]);
  recorder.record(object, note);
  await recorder.flush();
  expect(await events()).toHaveLength(2);
});

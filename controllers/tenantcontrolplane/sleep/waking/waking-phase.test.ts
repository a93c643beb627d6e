import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations } from '../../../../api/names.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { FakeClock } from '../../../../testing/fake/fake-clock.ts';
import { WakingWorld } from '../../../../testing/worlds/sleep/waking-world.ts';
import { StartQueue } from '../../workload/start-queue.ts';

const hourMs = 3_600_000;
const sliceKey = { namespace: 'default', name: 'tenant-ipv4-activator' };
const sleepUntil = (time: string | null) => ({ metadata: { annotations: { [annotations.sleepUntil]: time } } });

describe('Calls that cannot wake a control plane up', () => {
  test.each<[string, unknown]>([
    ['because a person has set 0 replicas', { spec: { controlPlane: { deployment: { replicas: 0 } } } }],
    ['because a person has put it to sleep for a while', sleepUntil('2030-01-03T00:00:00Z')],
  ])('are not led to the activator, %s', async (_why, change) => {
    const world = await WakingWorld.ready();
    await world.serve();
    await world.change(change);
    await world.settle();
    expect([await world.pods(), await world.led()]).toEqual([0, []]);
    const said = (await world.read()).status?.conditions?.find(({ type }) => type === 'Asleep');
    expect(said?.message).not.toContain('activator');
  });

  test('are led there no longer once a person decides that it sleeps, and again when that has ended', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    expect(await world.led()).toEqual(['10.0.0.1', '10.0.0.2']);
    await world.change(sleepUntil('2030-01-01T23:00:00Z'));
    const { afterMs } = await world.settle();
    expect([await world.led(), afterMs]).toEqual([[], hourMs]);
    await world.at('2030-01-01T23:00:00Z');
    expect(await world.led()).toEqual(['10.0.0.1', '10.0.0.2']);
    await world.call();
    expect(await world.pods()).toBe(2);
  });
});

describe('A control plane that sleeps without a schedule and wakes up with a request', () => {
  async function asleep(): Promise<WakingWorld> {
    const world = await WakingWorld.ready({ afterIdle: '30m', wakeOn: ['Request'] });
    // As a decision has recorded it: there are no pods whose use could be read.
    const sleep = {
      ...(await world.read()).status?.sleep,
      ...{ state: 'Asleep', reason: 'Use', since: '2030-01-01T12:00:00Z' },
    };
    await world.cluster.admin.patch(
      tenantControlPlane,
      { namespace: 'default', name: 'tenant' },
      { type: 'merge', body: { status: { sleep } } },
      { subresource: 'status' },
    );
    await world.serve();
    await world.settle();
    expect([await world.pods(), await world.led()]).toEqual([0, ['10.0.0.1', '10.0.0.2']]);
    return world;
  }

  test('is looked at again within an hour, so that calls find the activator again if its slice is deleted', async () => {
    const world = await asleep();
    const { afterMs = Infinity } = await world.settle();
    expect([afterMs <= hourMs, afterMs > hourMs * 0.9]).toEqual([true, true]);
    await world.cluster.admin.delete(kinds.EndpointSlice, sliceKey);
    await world.clock.advance(afterMs);
    await world.settle();
    expect(await world.led()).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  test('writes nothing when nothing has changed', async () => {
    const world = await asleep();
    const versions = (): readonly unknown[] =>
      world.cluster.everything().map(({ kind, metadata }) => [kind, metadata.name, metadata.resourceVersion]);
    const patched: string[] = [];
    world.cluster.before(({ verb, kind }) => {
      if (verb === 'patch' || (kind?.kind === 'EndpointSlice' && !['get', 'list'].includes(verb)))
        patched.push(`${verb} ${kind?.kind ?? ''}`);
      return Promise.resolve();
    });
    const before = versions();
    for (let hours = 0; hours < 3; hours += 1) {
      await world.clock.advance(hourMs);
      await world.reconcile();
    }
    expect([versions(), patched]).toEqual([before, []]);
  });
});

describe('The request to wake up', () => {
  test('stays while a caller waits for pods, and is removed once they are reached', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    world.podsStart = false;
    await world.call();
    await world.at('2030-01-01T22:00:05Z');
    expect([await world.pods(), await world.requests()]).toEqual([2, ['default.tenant']]);
    await world.startPods();
    await world.serve('10.1.0.2');
    await world.settle();
    expect(await world.requests()).toEqual([]);
  });

  test('counts although the clock of the activator is behind or ahead', async () => {
    for (const time of ['2030-01-01T21:40:00Z', '2030-01-01T22:20:00Z']) {
      const world = await WakingWorld.ready();
      await world.night();
      await world.call(time);
      expect(await world.pods()).toBe(2);
    }
  });

  test.each(['2030-01-01T21:40:00Z', '2030-01-01T22:20:00Z', '2099-01-01T00:00:00Z', 'soon'])(
    'does not count if a manager that begins finds it with the time %s, and is removed',
    async (time) => {
      const world = await WakingWorld.ready();
      await world.night();
      const body = { data: { 'default.tenant': time } };
      const requests = { namespace: 'steward-system', name: 'steward-wake-requests' };
      await world.cluster.admin.patch(kinds.ConfigMap, requests, { type: 'merge', body });
      world.restart();
      await world.settle();
      expect([await world.pods(), await world.requests()]).toEqual([0, []]);
    },
  );

  test('counts if a manager that begins finds it with a time of a moment ago', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    world.restart();
    await world.call('2030-01-01T21:59:30Z');
    expect(await world.pods()).toBe(2);
  });
});

describe('A call while other control planes start their pods', () => {
  test('starts its control plane beside them, and a schedule lets it wait', async () => {
    const starts = new StartQueue({ clock: new FakeClock(), memory: new ObjectMemory() });
    const world = await WakingWorld.ready(undefined, undefined, { starts: { starts, mostStarts: 1 } });
    await world.night();
    const tcp = await world.read();
    starts.take({ ...tcp, metadata: { ...tcp.metadata, namespace: 'other', uid: 'another' } }, 1);
    await world.at('2030-01-02T07:00:00Z');
    expect(await world.pods()).toBe(0);
    expect(await world.condition('ControlPlaneAvailable')).toContain('False StartsLater');
    await world.call();
    expect(await world.pods()).toBe(2);
  });
});

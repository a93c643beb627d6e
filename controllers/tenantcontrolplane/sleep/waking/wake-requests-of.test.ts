import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { ConfigMap } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import { activatorObjects, annotations } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Handler, Informer } from '../../../../runtime/cache/informer.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { emptyInformers } from '../../../../testing/fake/empty-informers.ts';
import { FakeClock } from '../../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { listedInformers } from '../../../../testing/fake/listed-informers.ts';
import { WakeRequestsOf, wakeRequestWatch } from './wake-requests-of.ts';

const namespace = 'steward-system';
const tenant = { namespace: 'default', name: 'tenant' };
const entry = 'default.tenant';
const requests = (data: ConfigMap['data']): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name: activatorObjects.wakeRequests, uid: 'u', resourceVersion: '1' },
  data,
});

/** A manager that finds requests, and sees others. */
function begin(found: ConfigMap['data'] = {}, isSynced: () => boolean = () => true) {
  const clock = new FakeClock(new Date('2030-01-01T22:00:00Z'));
  let now = requests(found);
  let handler: Handler<ConfigMap> = () => undefined;
  const informer: Informer<ConfigMap> = {
    ...emptyInformers.informer({ kind: kinds.ConfigMap }),
    health: () => ({ ...emptyInformers.informer({ kind: kinds.ConfigMap }).health(), synced: isSynced() }),
    get: () => now,
    list: () => [now],
    subscribe: (given) => {
      handler = given;
      given(undefined, now);
      return () => undefined;
    },
  };
  const informers = { informer: <T extends Resource>() => informer as Informer as Informer<T> };
  const requestsOf = new WakeRequestsOf({ cluster: new FakeCluster(), informers, namespace, clock });
  return {
    clock,
    isCalled: () => requestsOf.isCalled(tenant, clock.now()),
    see: (data: ConfigMap['data']) => {
      const old = now;
      now = requests(data);
      handler(old, now);
    },
  };
}

describe('A request', () => {
  test.each(['2030-01-01T21:00:00Z', '2030-01-01T22:00:00Z', '2031-01-01T00:00:00Z'])(
    'with the time %s counts for two minutes from when it was seen, whatever the clock of the activator shows',
    async (time) => {
      const { clock, isCalled, see } = begin();
      expect(isCalled()).toBe(false);
      see({ [entry]: time });
      expect(isCalled()).toBe(true);
      await clock.advance(119_999);
      expect(isCalled()).toBe(true);
      await clock.advance(1);
      expect(isCalled()).toBe(false);
      see({ [entry]: `${time} again` });
      expect(isCalled()).toBe(true);
    },
  );

  test('that changes while nobody asks counts from when it was seen, not from when somebody asks', async () => {
    const { clock, isCalled, see } = begin();
    expect(isCalled()).toBe(false);
    see({ [entry]: '2030-01-01T22:00:00Z' });
    await clock.advance(300_000);
    expect(isCalled()).toBe(false);
  });

  test.each([
    ['2030-01-01T21:57:59Z', false],
    ['2030-01-01T21:59:00Z', true],
    ['2030-01-01T22:01:59Z', true],
    ['2030-01-01T22:02:01Z', false],
    ['soon', false],
  ])('that is there at the beginning counts by its own time: %s, %s', (time, expected) => {
    expect(begin({ [entry]: time }).isCalled()).toBe(expected);
  });

  test('that is there at the beginning counts no longer than two minutes, also with a time in the future', async () => {
    const { clock, isCalled } = begin({ [entry]: '2030-01-01T22:01:59Z' });
    expect(isCalled()).toBe(true);
    await clock.advance(120_000);
    expect(isCalled()).toBe(false);
  });

  test('that comes with what there is at the beginning counts by its own time, also if somebody asks before', () => {
    let isSynced = false;
    const { isCalled, see } = begin({}, () => isSynced);
    expect(isCalled()).toBe(false);
    see({ [entry]: '2030-01-01T21:00:00Z' });
    expect(isCalled()).toBe(false);
    isSynced = true;
    see({ [entry]: '2030-01-01T21:00:05Z' });
    expect(isCalled()).toBe(true);
  });

  test('that was removed and made again counts again, also with the same time', async () => {
    const { clock, isCalled, see } = begin();
    isCalled();
    see({ [entry]: 'x' });
    see({});
    await clock.advance(300_000);
    see({ [entry]: 'x' });
    expect(isCalled()).toBe(true);
  });
});

describe('A change of the requests enqueues a control plane', () => {
  const sleep = { schedules: [{ sleep: '0 20 * * *', wake: '0 7 * * *' }], wakeOn: ['Request'] } as const;
  const asleep = { state: 'Asleep', reason: 'Schedule', since: '2030-01-01T20:00:00Z' } as const;
  const called = (old: ConfigMap['data'] | undefined, changes: TenantControlPlaneChanges): readonly unknown[] => {
    const tcp: TenantControlPlane = tenantControlPlaneWith({
      status: { sleep: asleep },
      ...changes,
      spec: { sleep, ...changes.spec },
    });
    const informers = listedInformers({ TenantControlPlane: () => [tcp] });
    const watch = wakeRequestWatch(namespace, informers);
    return watch.keys(
      old === undefined ? undefined : requests(old),
      requests({ [entry]: 'now', 'default.gone': 'now' }),
    );
  };

  test('that sleeps and would wake up, each time', () => {
    expect([called({}, {}), called({ [entry]: 'before', 'default.gone': 'before' }, {})]).toEqual([[tenant], [tenant]]);
    expect(called({ [entry]: 'now', 'default.gone': 'now' }, {})).toEqual([]);
  });

  test('that is awake, once: it may be about to fall asleep', () => {
    const awake = { status: { sleep: { ...asleep, state: 'Awake' } } } as const;
    expect([called({}, awake), called({ [entry]: 'before' }, awake)]).toEqual([[tenant], []]);
  });

  test.each<[string, TenantControlPlaneChanges]>([
    ['is paused', { metadata: { annotations: { [annotations.paused]: 'true' } } }],
    ['has 0 replicas', { deployment: { replicas: 0 } }],
    ['a person has put to sleep', { status: { sleep: { ...asleep, reason: 'Manual' } } }],
    ['does not wake up with a request', { spec: { sleep: { schedules: sleep.schedules } } }],
  ])('but not one that %s, however often it is called', (_why, changes) => {
    expect([called(undefined, changes), called({}, changes), called({ [entry]: 'before' }, changes)]).toEqual([
      [],
      [],
      [],
    ]);
  });
});

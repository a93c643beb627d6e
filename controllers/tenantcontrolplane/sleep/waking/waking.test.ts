import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { SleepSpec } from '../../../../api/embedded/sleep.ts';
import { activatorPorts, annotations } from '../../../../api/names.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { apiServerMetrics } from '../../../../testing/builders/api-server-metrics.ts';
import { WakingWorld, nights, requestsKey, sliceOf, tableKey } from '../../../../testing/worlds/sleep/waking-world.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { mostOfNamespace } from './activator-ports.ts';
import { choosePort } from './choose-port.ts';

const tenantKey = { namespace: 'default', name: 'tenant' };

describe('Calls of a control plane that wakes up with a request', () => {
  test('are led to the activator while it sleeps, at a port of its own, which stays', async () => {
    const world = await WakingWorld.ready();
    const { status, metadata } = await world.read();
    const port = choosePort(metadata.uid, () => false) ?? 0;
    expect([status?.sleep?.port, await world.table(), await world.led()]).toEqual([
      port,
      { [port]: 'default/tenant' },
      [],
    ]);
    await world.night();
    expect(await world.led()).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(await world.slice()).toMatchObject({
      metadata: { labels: { 'kubernetes.io/service-name': 'tenant', 'steward.butlerlabs.dev/component': 'activator' } },
      endpoints: [{ nodeName: 'node-1' }, { nodeName: 'node-1' }],
      ports: [{ name: 'kube-apiserver', port, protocol: 'TCP' }],
    });
    const service = await world.cluster.admin.get(kinds.Service, tenantKey);
    expect(service?.spec?.selector).toEqual({ 'steward.butlerlabs.dev/name': 'tenant' });
  });

  test('are passed on before its pods are ready, unless those have containers of its author', async () => {
    const early = async (world: WakingWorld): Promise<unknown> =>
      (await world.slice())?.metadata.annotations?.[annotations.passedEarly];
    const world = await WakingWorld.ready();
    expect(await early(world)).toBe('true');
    const additionalContainers = [{ name: 'authorizer', image: 'authorizer' }];
    await world.change({ spec: { controlPlane: { deployment: { additionalContainers } } } });
    await world.settle();
    expect(await early(world)).toBe('false');
  });

  test('wake it up, until its schedule would', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    await world.call();
    expect([await world.pods(), await world.condition('Asleep')]).toEqual([
      2,
      'False Awake: awake because somebody called it at 2030-01-01T22:00:00Z; its schedule would wake it up at 2030-01-02T07:00:00Z',
    ]);
    expect((await world.read()).status?.sleep).toMatchObject({
      reason: 'Request',
      ended: { byRequest: 1, bySchedule: 0 },
    });
    await world.at('2030-01-02T05:00:00Z');
    expect(await world.pods()).toBe(2);
    await world.at('2030-01-02T07:00:00Z');
    expect((await world.read()).status?.sleep).toMatchObject({ state: 'Awake', reason: 'Schedule' });
    await world.at('2030-01-02T20:00:00Z');
    expect(await world.pods()).toBe(0);
  });

  test('wake it up in the morning, where its schedule does not', async () => {
    const world = await WakingWorld.ready({ schedules: [nights], wakeOn: ['Request'] });
    await world.night();
    await world.at('2030-01-02T07:00:00Z');
    await world.at('2030-01-02T09:00:00Z');
    expect([await world.pods(), await world.led()]).toEqual([0, ['10.0.0.1', '10.0.0.2']]);
    expect((await world.read()).status?.conditions).toContainEqual(
      expect.objectContaining({
        ...{ type: 'Asleep', status: 'True', reason: 'Scheduled' },
        message:
          'fell asleep by its schedule, and sleeps until somebody wakes it up: spec.sleep.wakeOn does not list Schedule',
      }),
    );
    await world.call();
    expect([await world.pods(), await world.condition('Asleep')]).toEqual([
      2,
      'False Awake: awake by its schedule until 2030-01-02T20:00:00Z',
    ]);
    expect((await world.read()).status?.sleep?.ended).toMatchObject({ byRequest: 1, bySchedule: 0 });
    await world.at('2030-01-02T22:00:00Z');
    await world.call();
    expect([await world.pods(), await world.condition('Asleep')]).toEqual([
      2,
      'False Awake: awake because somebody called it at 2030-01-02T22:00:00Z; its schedule says that it sleeps',
    ]);
    await world.at('2030-01-03T20:00:00Z');
    expect(await world.pods()).toBe(0);
  });

  test('are led to the activator until a pod is reached, and no longer', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    await world.call();
    expect(await world.led()).toEqual(['10.0.0.1', '10.0.0.2']);
    await world.serve('10.1.0.2');
    await world.settle();
    expect(await world.led()).toEqual([]);
  });

  test('are not led there when pods that were reached are not ready anymore', async () => {
    const world = await WakingWorld.ready();
    await world.serve();
    await world.settle();
    expect(await world.led()).toEqual([]);
  });

  test('are one request, which is removed when its pods are reached', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    await world.call();
    await world.serve('10.1.0.2');
    await world.at('2030-01-01T22:00:05Z');
    expect([await world.requests(), await world.pods()]).toEqual([[], 2]);
  });

  test('are not lost when they come while it is reconciled because of something else', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    let calls = 0;
    world.cluster.before(async ({ kind, verb }) => {
      // Whether it sleeps has been decided by then.
      if (kind?.kind !== 'Service' || verb !== 'get' || calls > 0) return;
      calls += 1;
      const body = { data: { 'default.tenant': world.clock.now().toISOString() } };
      await world.cluster.admin.patch(kinds.ConfigMap, requestsKey, { type: 'merge', body });
    });
    await world.reconcile();
    expect([calls, await world.pods(), await world.requests()]).toEqual([1, 0, ['default.tenant']]);
    // The request has enqueued it.
    await world.reconcile();
    expect(await world.pods()).toBe(2);
  });

  test('survive a manager that dies before it has recorded that it woke up', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    await world.cluster.admin.patch(kinds.ConfigMap, requestsKey, {
      type: 'merge',
      body: { data: { 'default.tenant': world.clock.now().toISOString() } },
    });
    const before = (await world.requests()).length;
    world.cluster.crashAfter(3);
    await world.reconcile();
    world.restart();
    expect([before, (await world.requests()).length]).toEqual([1, 1]);
    await world.settle();
    expect(await world.pods()).toBe(2);
  });

  test('wake nothing up that was called an hour ago, when the manager was down', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    world.restart();
    await world.call('2030-01-01T21:00:00Z');
    expect([await world.pods(), await world.requests()]).toEqual([0, []]);
  });

  test('do not keep one awake in the next night', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    await world.call();
    world.restart();
    await world.at('2030-01-02T23:00:00Z');
    expect(await world.pods()).toBe(0);
  });

  test.each<[string, (world: WakingWorld) => Promise<void>]>([
    ['with 0 replicas', (world) => world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } })],
    [
      'that a person has put to sleep',
      (world) => world.change({ metadata: { annotations: { [annotations.sleepUntil]: '2030-02-01T00:00:00Z' } } }),
    ],
    ['whose spec requests it no longer', (world) => world.change({ spec: { sleep: { wakeOn: null } } })],
  ])('do not wake one up %s', async (_name, change) => {
    const world = await WakingWorld.ready();
    await world.night();
    await change(world);
    await world.settle();
    await world.call();
    expect([await world.pods(), await world.requests()]).toEqual([0, []]);
  });

  test('do not wake one up that is paused', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    await world.change({ metadata: { annotations: { [annotations.paused]: 'true' } } });
    await world.call();
    expect(await world.pods()).toBe(0);
  });

  test('are led to pods of the activator that became ready later', async () => {
    const world = await WakingWorld.ready(undefined, []);
    await world.night();
    expect(await world.condition('Asleep')).toBe('True');
    const said = (await world.read()).status?.conditions?.find(({ type }) => type === 'Asleep');
    expect(said?.message).toContain('no pod of the activator is ready, so calls do not wake it up');
    await world.activators(['10.0.0.3']);
    await world.settle();
    expect(await world.led()).toEqual(['10.0.0.3']);
  });
});

describe('A control plane that sleeps for lack of use and wakes up with a request', () => {
  const sleep: SleepSpec = { afterIdle: '30m', wakeOn: ['Request'] };
  const idle = async (world: WakingWorld, minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      world.metrics = apiServerMetrics({ requests: { exempt: Math.floor(world.clock.monotonic() / 1000) + 1 } });
      await world.clock.advance(60_000);
      await world.settle();
    }
  };
  const pod = async (world: WakingWorld, name: string): Promise<void> => {
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { 'steward.butlerlabs.dev/name': 'tenant' } },
      status: {
        podIP: '10.1.0.1',
        containerStatuses: [
          { name: 'kube-apiserver', state: { running: { startedAt: world.clock.now().toISOString() } } },
        ],
      },
    });
  };

  test('stays awake after it for as long as after any other use', async () => {
    const world: WakingWorld = await WakingWorld.ready(sleep, ['10.0.0.1'], { readsUse: true });
    await pod(world, 'tenant-1');
    await idle(world, 32);
    expect(await world.pods()).toBe(0);
    await world.cluster.admin.delete(kinds.Pod, { namespace: 'default', name: 'tenant-1' });
    await world.call();
    await pod(world, 'tenant-2');
    expect((await world.read()).status?.sleep).toMatchObject({
      state: 'Awake',
      reason: 'Use',
      ended: { byRequest: 1 },
    });
    await idle(world, 28);
    expect(await world.pods()).toBe(2);
    await idle(world, 5);
    expect(await world.pods()).toBe(0);
  });

  test('falls asleep again in the night in which it was called, when nobody uses it', async () => {
    const both: SleepSpec = { ...sleep, schedules: [nights] };
    const world: WakingWorld = await WakingWorld.ready(both, ['10.0.0.1'], { readsUse: true });
    await pod(world, 'tenant-1');
    await world.night();
    await world.cluster.admin.delete(kinds.Pod, { namespace: 'default', name: 'tenant-1' });
    await world.call();
    await pod(world, 'tenant-2');
    await idle(world, 20);
    expect([await world.pods(), (await world.read()).status?.sleep?.reason]).toEqual([2, 'Request']);
    await idle(world, 15);
    expect([await world.pods(), (await world.read()).status?.sleep?.reason]).toEqual([0, 'Schedule']);
    expect((await world.read()).status?.sleep?.requestTime).toBeUndefined();
  });
});

describe('The port of the activator', () => {
  test('is the next one if another control plane has it', async () => {
    const world = new WakingWorld();
    const created = await world.create({
      spec: { dataStore: 'default', sleep: { schedules: [nights], wakeOn: ['Request'] } },
    });
    const first = choosePort(created.metadata.uid, () => false) ?? 0;
    await world.beside('default', 'other');
    const data = { [first]: 'default/other' };
    await world.cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: tableKey, data });
    await world.settle();
    const next = first === activatorPorts.to ? activatorPorts.from : first + 1;
    expect(await world.table()).toEqual({ [first]: 'default/other', [next]: 'default/tenant' });
    expect((await world.read()).status?.sleep?.port).toBe(next);
  });

  test('is given back with the field, and the slice goes as well', async () => {
    const world = await WakingWorld.ready();
    await world.change({ spec: { sleep: { wakeOn: null } } });
    await world.settle();
    expect([await world.table(), await world.slice(), (await world.read()).status?.sleep?.port]).toEqual([
      {},
      undefined,
      undefined,
    ]);
  });

  test('is given back by a control plane that is deleted', async () => {
    const world = await WakingWorld.ready();
    await world.cluster.admin.delete(tenantControlPlane, tenantKey);
    await world.settle();
    expect([await world.exists(), await world.table()]).toEqual([false, {}]);
  });

  test('is given back by one whose deletion waits only after nothing leads there anymore', async () => {
    const world = await WakingWorld.ready();
    await world.night();
    world.store.failure = new StoreError('Unreachable', 'etcd:2379: connection refused');
    await world.cluster.admin.delete(tenantControlPlane, tenantKey);
    world.cluster.before(async ({ kind, verb, name }) => {
      if (kind?.kind !== 'ConfigMap' || verb !== 'patch' || name !== tableKey.name) return;
      expect(await world.slice()).toBeUndefined();
    });
    await world.settle();
    expect([await world.exists(), await world.table(), await world.slice()]).toEqual([true, {}, undefined]);
  });

  test('is free again when its control plane is gone, although nobody has given it back', async () => {
    const world = await WakingWorld.ready();
    await world.beside('default', 'there');
    const others = { '20001': 'default/gone', '20002': 'default/there', '20003': 'default/led' };
    await world.cluster.admin.patch(kinds.ConfigMap, tableKey, { type: 'merge', body: { data: others } });
    const led = sliceOf('default', 'led', ['10.0.0.1']);
    await world.cluster.seed(kinds.EndpointSlice, {
      ...led,
      metadata: { ...led.metadata, name: 'led-ipv4-activator' },
    });
    await world.settle();
    expect(Object.values((await world.table()) ?? {})).toContain('default/gone');
    await world.at('2030-01-01T12:11:00Z');
    const left = Object.values((await world.table()) ?? {}).sort();
    expect(left).toEqual(['default/led', 'default/tenant', 'default/there']);
  });

  test('is not the one that a former control plane of its name has left', async () => {
    const world = new WakingWorld();
    const created = await world.create({
      spec: { dataStore: 'default', sleep: { schedules: [nights], wakeOn: ['Request'] } },
    });
    const port = choosePort(created.metadata.uid, () => false) ?? 0;
    const former = port === activatorPorts.to ? activatorPorts.from : port + 1;
    const data = { [former]: 'default/tenant' };
    await world.cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: tableKey, data });
    await world.settle();
    expect(await world.table()).toEqual({ [port]: 'default/tenant' });
  });

  test('is none in a namespace whose others have too many, and it says what to do', async () => {
    const world = new WakingWorld();
    await world.create({ spec: { dataStore: 'default', sleep: { schedules: [nights], wakeOn: ['Request'] } } });
    const all = Array.from(
      { length: mostOfNamespace },
      (_, index) => [`${20_000 + index}`, `default/a${index}`] as const,
    );
    const data: Record<string, string> = { ...Object.fromEntries(all), '29000': 'others/a' };
    await world.cluster.seed(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: tableKey, data });
    await Promise.all(Array.from({ length: 25 }, (_, index) => world.beside('default', `a${index}`)));
    const end = await world.settle();
    expect(Object.values((await world.table()) ?? {})).not.toContain('default/tenant');
    expect(await world.condition('Asleep')).toContain('move some to another namespace');
    expect(end.afterMs).toBeLessThanOrEqual(600_000);
    // Most of the others are not there.
    await world.at('2030-01-01T12:11:00Z');
    expect((await world.read()).status?.sleep?.port).toBeDefined();
  });

  test('of somebody else is not taken away by one that has read an older table', async () => {
    const world = await WakingWorld.ready();
    const [port = ''] = Object.keys((await world.table()) ?? {});
    await world.change({ spec: { sleep: { wakeOn: null } } });
    let changes = 0;
    world.cluster.before(async ({ kind, verb, name }) => {
      if (kind?.kind !== 'ConfigMap' || verb !== 'patch' || name !== tableKey.name || changes > 0) return;
      changes += 1;
      await world.cluster.admin.patch(kinds.ConfigMap, tableKey, {
        type: 'merge',
        body: { data: { [port]: 'default/other' } },
      });
    });
    await world.settle();
    expect([changes, await world.table()]).toEqual([1, { [port]: 'default/other' }]);
  });

  test('is chosen again when somebody else wrote the table at the same time', async () => {
    const world = new WakingWorld();
    const key = { kind: 'ConfigMap', verb: 'patch' };
    let others = 0;
    world.cluster.before(async ({ kind, verb }) => {
      if (kind?.kind !== key.kind || verb !== key.verb || others > 0) return;
      others += 1;
      await world.beside('a', 'b');
      await world.cluster.admin.patch(kinds.ConfigMap, tableKey, { type: 'merge', body: { data: { '20000': 'a/b' } } });
    });
    await world.create({ spec: { dataStore: 'default', sleep: { schedules: [nights], wakeOn: ['Request'] } } });
    await world.settle();
    expect(Object.values((await world.table()) ?? {}).sort()).toEqual(['a/b', 'default/tenant']);
  });

  test('is none of a control plane without the field, and nothing is read for it', async () => {
    const world = await WakingWorld.ready({ schedules: [nights] });
    expect([await world.table(), await world.slice()]).toEqual([undefined, undefined]);
  });
});

describe('The nodes of a control plane', () => {
  const nodes = (...addresses: readonly string[]): string =>
    JSON.stringify({
      kind: 'NodeList',
      items: [
        { status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) } },
        {
          status: {
            addresses: [
              { type: 'Hostname', address: 'node' },
              { type: 'InternalIP', address: 'no address' },
            ],
          },
        },
      ],
    });

  const noted = async (world: WakingWorld): Promise<string | undefined> =>
    (await world.slice())?.metadata.annotations?.[annotations.nodeAddresses];

  class NodesWorld extends WakingWorld {
    page = nodes('192.0.2.9', '192.0.2.8', '2001:db8::8');

    override nodePage(): string {
      return this.page;
    }
  }

  async function withNodes(wakeOn: SleepSpec['wakeOn'] = ['Request']): Promise<NodesWorld> {
    const world = new NodesWorld();
    await world.activators(['10.0.0.1']);
    await world.create({ spec: { dataStore: 'default', sleep: { schedules: [nights], wakeOn } } });
    await world.serve('10.1.0.1');
    await world.settle();
    return world;
  }

  test('are noted at the slice, so that their calls do not wake it up, also while it sleeps', async () => {
    const world = await withNodes();
    expect(await noted(world)).toBe('192.0.2.8,192.0.2.9,2001:db8::8');
    await world.night();
    expect(await noted(world)).toBe('192.0.2.8,192.0.2.9,2001:db8::8');
  });

  test('are read again after minutes', async () => {
    const world = await withNodes();
    world.page = nodes('192.0.2.7');
    await world.at('2030-01-01T12:09:00Z');
    expect(await noted(world)).toContain('192.0.2.8');
    await world.at('2030-01-01T12:11:00Z');
    expect(await noted(world)).toBe('192.0.2.7');
  });

  test('are read once more right before it falls asleep by its schedule', async () => {
    const world = await withNodes();
    await world.at('2030-01-01T19:48:00Z');
    expect((await world.reconcile()).afterMs).toBe(11 * 60_000);
    world.page = nodes('192.0.2.7');
    await world.at('2030-01-01T19:59:00Z');
    await world.night();
    expect(await noted(world)).toBe('192.0.2.7');
  });

  test('are read every minute while something delays its sleep, such as an upgrade of its workers', async () => {
    const world = await withNodes();
    const upgrade = (version: string | null): Promise<void> =>
      world.change({ metadata: { annotations: { [annotations.clusterUpgrade]: version } } });
    await upgrade('v1.36.3');
    await world.at('2030-01-01T22:00:00Z');
    expect((await world.reconcile()).afterMs).toBe(60_000);
    world.page = nodes('192.0.2.7');
    await world.at('2030-01-01T22:01:00Z');
    expect([await world.pods(), await noted(world)]).toEqual([2, '192.0.2.7']);
    await upgrade(null);
    await world.settle();
    expect([await world.pods(), await noted(world)]).toEqual([0, '192.0.2.7']);
  });

  test('are noted up to a limit, however many the tenant says that there are, and an Event says so', async () => {
    const world = await withNodes();
    let reads = 0;
    world.page = '';
    world.nodePage = () => {
      reads += 1;
      const items = Array.from({ length: 50 }, (_, node) => ({
        status: {
          addresses: Array.from({ length: 2_000 }, (__, index) => ({
            type: 'InternalIP',
            address: `10.${(reads * 50 + node) & 255}.${index >> 8}.${index & 255}`,
          })),
        },
      }));
      return JSON.stringify({ kind: 'NodeList', metadata: { continue: 'more' }, items });
    };
    await world.at('2030-01-01T12:11:00Z');
    expect([reads, (await noted(world))?.split(',').length]).toEqual([3, 2_000]);
    expect(world.events.filter((event) => event.startsWith('NodesNotKnown')).length).toBe(1);
  });

  test('are not noted if their calls are to wake it up as well', async () => {
    const world = await withNodes(['Request', 'NodeRequest']);
    expect([(await world.slice()) === undefined, await noted(world)]).toEqual([false, undefined]);
  });

  test('are none where the tenant answers with something else', async () => {
    const world = await withNodes();
    world.page = '{"kind":"NodeList","items":[{"status":{"addresses":"all"}},7,null]}';
    await world.at('2030-01-01T12:30:00Z');
    expect(await noted(world)).toBeUndefined();
  });
});

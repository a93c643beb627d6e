import { describe, expect, test } from '@jest/globals';
import { clusterNameLabel } from '../../../../api/cluster-api/names.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations, backgroundFlowSchema, labels } from '../../../../api/names.ts';
import type { SleepSpec } from '../../../../api/embedded/sleep.ts';
import { apiServerMetrics } from '../../../../testing/builders/api-server-metrics.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { listedInformers } from '../../../../testing/fake/listed-informers.ts';
import type { TenantPoolOptions } from '../../../../tenants/pool.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const minuteMs = 60_000;
const afterHalfAnHour: SleepSpec = { afterIdle: '30m' };
const key = { namespace: 'default', name: 'tenant' };

/** A control plane with one pod, whose API server counts what the test says. */
class IdleWorld extends TenantWorld {
  /** Where each connection to the tenant that was opened leads. */
  readonly opened: readonly (string | undefined)[];
  #requests = 0;
  #pod = 0;
  #isEnqueued = false;

  constructor(options: ConstructorParameters<typeof TenantWorld>[0] = {}) {
    const opened: (string | undefined)[] = [];
    const made: { world?: IdleWorld } = {};
    const openTenant: TenantPoolOptions['open'] = ({ dial }) => {
      if (made.world === undefined) throw new Error('nothing is there yet');
      opened.push(dial?.host);
      return made.world.tenant.open();
    };
    super({ start: new Date('2030-01-01T12:00:00Z'), readsUse: true, openTenant, ...options });
    made.world = this;
    this.opened = opened;
    this.onEnqueue = () => {
      this.#isEnqueued = true;
    };
  }

  static async ready(
    sleep: SleepSpec = afterHalfAnHour,
    changes: TenantControlPlaneChanges = {},
    options: ConstructorParameters<typeof TenantWorld>[0] = {},
  ): Promise<IdleWorld> {
    const world = new IdleWorld(options);
    await world.create({
      ...changes,
      deployment: { replicas: 1 },
      spec: { dataStore: 'default', sleep },
    });
    await world.newPod();
    await world.settle();
    return world;
  }

  /** Replaces the pod: its API server has counted nothing. */
  async newPod(): Promise<void> {
    await this.cluster.admin.delete(kinds.Pod, { namespace: 'default', name: `tenant-${this.#pod}` });
    this.#pod += 1;
    this.#requests = 0;
    this.count();
    const running = { running: { startedAt: this.clock.now().toISOString() } };
    await this.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `tenant-${this.#pod}`, namespace: 'default', labels: { [labels.name]: 'tenant' } },
      status: { podIP: '192.0.2.1', containerStatuses: [{ name: 'kube-apiserver', state: running }] },
    });
  }

  /** Says what the API server has counted, with requests in the background that never end. */
  count(more: Parameters<typeof apiServerMetrics>[0] = {}): void {
    const background = Math.floor(this.clock.monotonic() / 1000) + 1;
    const requests = { exempt: background, 'system-leader-election': background, 'global-default': this.#requests };
    this.metrics = apiServerMetrics({ requests, ...more });
  }

  /** A request of a person. */
  call(): void {
    this.#requests += 1;
    this.count();
  }

  /** Lets minutes pass; it is reconciled within seconds when it is enqueued. */
  async minutes(count: number): Promise<void> {
    for (let step = 0; step < count * 6; step += 1) {
      await this.clock.advance(minuteMs / 6);
      if (!this.#isEnqueued) continue;
      this.#isEnqueued = false;
      await this.settle();
    }
  }

  async pods(): Promise<number | undefined> {
    return (await this.deployment())?.spec?.replicas;
  }

  annotate(values: Readonly<Record<string, string | null>>): Promise<void> {
    return this.change({ metadata: { annotations: values } });
  }

  async told(): Promise<string> {
    const found = (await this.read()).status?.conditions?.find(({ type }) => type === 'Asleep');
    return found === undefined ? 'absent' : `${found.status} ${found.reason}`;
  }
}

describe('A control plane with afterIdle', () => {
  test('falls asleep when nobody has used it for as long, and says what is the case meanwhile', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(1);
    expect([await world.pods(), await world.condition('Asleep')]).toEqual([
      1,
      'False InUse: it is in use; it falls asleep when nobody has used it for 30m',
    ]);
    await world.minutes(28);
    expect([await world.pods(), await world.condition('Asleep')]).toEqual([
      1,
      'False NotUsed: nobody has used it since 2030-01-01T12:00:00Z; it falls asleep when nobody has used it for 30m',
    ]);
    await world.minutes(1);
    expect([await world.pods(), await world.state(), await world.told()]).toEqual([0, 'Sleeping', 'True Idle']);
    expect((await world.read()).status).toMatchObject({
      sleep: { state: 'Asleep', since: '2030-01-01T12:30:00Z', reason: 'Use' },
      use: { state: 'Idle', since: '2030-01-01T12:00:00Z' },
    });
    expect(world.events.filter((event) => /^(FallingAsleep|WakingUp|Sleep)/.test(event))).toEqual([
      'FallingAsleep: nobody has used it for 30m: it sleeps',
    ]);
    expect((await world.read()).spec.controlPlane.deployment.replicas).toBe(1);
  });

  test('stays awake while requests come, and falls asleep after the last of them', async () => {
    const world = await IdleWorld.ready();
    for (let calls = 0; calls < 4; calls += 1) {
      await world.minutes(20);
      world.call();
    }
    expect(await world.pods()).toBe(1);
    await world.minutes(30);
    expect(await world.pods()).toBe(1);
    await world.minutes(1);
    expect(await world.pods()).toBe(0);
  });

  test.each([
    ['exec', { streams: { exec: 1 } }],
    ['logs that are followed', { streams: { log: 1 } }],
  ])('stays awake during %s', async (_what, running) => {
    const world = await IdleWorld.ready();
    world.count(running);
    await world.minutes(120);
    expect([await world.pods(), await world.told()]).toEqual([1, 'False InUse']);
  });

  test('writes its status only when its use has another state', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(6);
    const { resourceVersion } = (await world.read()).metadata;
    await world.minutes(20);
    expect((await world.read()).metadata.resourceVersion).toBe(resourceVersion);
    world.call();
    await world.minutes(1);
    const used = (await world.read()).metadata.resourceVersion;
    for (let calls = 0; calls < 20; calls += 1) {
      world.call();
      await world.minutes(1);
    }
    expect((await world.read()).metadata.resourceVersion).toBe(used);
  });

  test('stays awake while its use cannot be read, and says why', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(10);
    world.metrics = '# nothing';
    await world.minutes(60);
    expect(await world.pods()).toBe(1);
    expect(await world.condition('Asleep')).toContain(
      'False UseUnknown: it stays awake, because it is not known whether it is used: /metrics has no apiserver_flowcontrol',
    );
    expect((await world.read()).status?.use?.state).toBe('Unknown');
    expect(world.events.filter((event) => event.startsWith('UseUnknown'))).toHaveLength(1);
  });

  test('sleeps on until it is woken up, and then stays awake for as long again', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(30);
    await world.clock.advance(100 * 60 * minuteMs);
    await world.settle();
    expect(await world.pods()).toBe(0);
    await world.annotate({ [annotations.wakeUntil]: '2030-01-05T16:40:00Z' });
    await world.settle();
    await world.newPod();
    await world.settle();
    expect([await world.pods(), await world.told()]).toEqual([1, 'False KeptAwake']);
    await world.minutes(11);
    await world.settle();
    expect([await world.pods(), await world.told()]).toEqual([1, 'False NotUsed']);
    await world.minutes(20);
    expect(await world.pods()).toBe(0);
  });

  test('is not put to sleep by a manager that knows nothing, and goes on from the record if nothing was counted', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(20);
    world.restart();
    await world.settle();
    expect(await world.told()).toBe('False NotUsed');
    await world.minutes(11);
    expect(await world.pods()).toBe(0);
    expect((await world.read()).status?.sleep?.since).toBe('2030-01-01T12:30:00Z');
  });

  test('begins again if it was used while the manager was away', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(20);
    world.restart();
    world.call();
    await world.clock.advance(60 * minuteMs);
    await world.settle();
    await world.minutes(29);
    expect(await world.pods()).toBe(1);
    await world.minutes(2);
    expect(await world.pods()).toBe(0);
  });

  test('wakes up when the field is removed', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(30);
    await world.change({ spec: { sleep: null } });
    await world.settle();
    expect([await world.pods(), await world.told()]).toEqual([1, 'False NotRequested']);
    const { sleep, use } = (await world.read()).status ?? {};
    expect([sleep, use]).toEqual([undefined, undefined]);
  });

  test('does not fall asleep during a backup, and does when it has ended', async () => {
    const process = {
      apiVersion: 'a/v1',
      kind: 'TenantBackup',
      metadata: { name: 'once', namespace: 'default', uid: 'u', resourceVersion: '1' },
      spec: {},
      status: { phase: 'Running', source: { tenantControlPlaneName: 'tenant' } },
    };
    let running = [process];
    const informers = () => listedInformers({ TenantBackup: () => running });
    const world = await IdleWorld.ready(afterHalfAnHour, {}, { informers });
    await world.minutes(40);
    expect([await world.pods(), await world.told()]).toEqual([1, 'False WorkUnderWay']);
    // Between two readings as well.
    await world.clock.advance(minuteMs / 2 + 1);
    await world.settle();
    expect(await world.told()).toBe('False WorkUnderWay');
    running = [];
    await world.minutes(1);
    expect(await world.pods()).toBe(0);
  });

  test('does not fall asleep while it is paused', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(10);
    await world.annotate({ [annotations.paused]: 'true' });
    await world.minutes(60);
    expect(await world.pods()).toBe(1);
  });

  test('with 0 replicas sleeps for that reason, and is not put to sleep at once when it has pods again', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(20);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    expect([await world.pods(), await world.told()]).toEqual([0, 'True Requested']);
    await world.clock.advance(100 * 60 * minuteMs);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 1 } } } });
    await world.settle();
    await world.newPod();
    await world.settle();
    expect([await world.pods(), await world.told()]).toEqual([1, 'False InUse']);
    await world.minutes(29);
    expect(await world.pods()).toBe(1);
    await world.minutes(2);
    expect([await world.pods(), await world.told()]).toEqual([0, 'True Idle']);
  });

  test('does not wake up while it is paused', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(30);
    await world.annotate({ [annotations.paused]: 'true', [annotations.wakeUntil]: '2030-01-02T12:00:00Z' });
    await world.minutes(60);
    expect(await world.pods()).toBe(0);
  });

  test('stays awake during a rollout, and for as long again after its last new pod', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(25);
    await world.change({ spec: { controlPlane: { deployment: { extraArgs: { apiServer: ['--v=4'] } } } } });
    await world.settle();
    await world.newPod();
    await world.settle();
    await world.minutes(29);
    expect([await world.pods(), await world.told()]).toEqual([1, 'False NotUsed']);
    await world.minutes(3);
    expect(await world.pods()).toBe(0);
  });

  test('is read over the connection that its manager has anyway', async () => {
    const world = await IdleWorld.ready();
    const { opened } = world;
    await world.minutes(25);
    expect(await world.told()).toBe('False NotUsed');
    expect(opened).toHaveLength(1);
  });

  test('is reconciled again when somebody may have used it since the last reading', async () => {
    const world = await IdleWorld.ready();
    await world.minutes(29);
    await world.clock.advance(minuteMs);
    // The reading that shows it is older than half a minute when it is reconciled.
    await world.clock.advance(minuteMs * 0.6);
    await world.settle();
    expect([await world.pods(), await world.told()]).toEqual([1, 'False NotUsed']);
    await world.minutes(1);
    expect(await world.pods()).toBe(0);
  });
});

describe('afterIdle and schedules', () => {
  const sleep = { ...afterHalfAnHour, schedules: [{ sleep: '0 20 * * *', wake: '0 7 * * *' }] };

  /** Lets the time come and reconciles, as the next transition would. */
  const at = async (world: IdleWorld, time: string): Promise<void> => {
    await world.clock.advance(Date.parse(time) - world.clock.now().getTime());
    await world.settle();
  };

  test('both put it to sleep, and a schedule wakes it up', async () => {
    const world = await IdleWorld.ready(sleep);
    await world.minutes(30);
    expect([await world.pods(), await world.told()]).toEqual([0, 'True Idle']);
    expect((await world.read()).status?.sleep?.nextTransitionTime).toBe('2030-01-02T07:00:00Z');
    await at(world, '2030-01-01T21:00:00Z');
    expect([await world.pods(), await world.told()]).toEqual([0, 'True Scheduled']);
    await at(world, '2030-01-02T07:00:00Z');
    await world.newPod();
    await world.settle();
    expect(await world.pods()).toBe(1);
    await world.minutes(30);
    expect([await world.pods(), await world.told()]).toEqual([0, 'True Idle']);
  });

  test('a wake time that came while the manager was away is made up for', async () => {
    const world = await IdleWorld.ready(sleep);
    await world.minutes(30);
    world.restart();
    await at(world, '2030-01-02T09:00:00Z');
    expect(await world.pods()).toBe(1);
  });

  test('says when it falls asleep by schedule', async () => {
    const world = await IdleWorld.ready(sleep);
    await world.minutes(1);
    expect(await world.condition('Asleep')).toBe(
      'False InUse: it is in use; it falls asleep when nobody has used it for 30m; awake by its schedule until 2030-01-01T20:00:00Z',
    );
  });
});

describe('Requests in the background', () => {
  const flow = async (world: TenantWorld) => world.tenant.admin.get(kinds.FlowSchema, { name: backgroundFlowSchema });

  test('are told apart inside the tenant by a FlowSchema, which goes with the field', async () => {
    const world = await IdleWorld.ready();
    expect((await flow(world))?.spec?.rules).toHaveLength(4);
    await world.minutes(10);
    await world.change({ spec: { sleep: null } });
    await world.settle();
    expect(await flow(world)).toBeUndefined();
  });

  test('include the watch of Cluster API on nodes, below a Cluster', async () => {
    const world = await IdleWorld.ready(afterHalfAnHour, { metadata: { labels: { [clusterNameLabel]: 'shop' } } });
    expect((await flow(world))?.spec?.rules?.[4]?.resourceRules).toEqual([
      { verbs: ['watch'], apiGroups: [''], resources: ['nodes'], clusterScope: true },
    ]);
  });

  test('are neither told apart nor read without the field', async () => {
    const calls: string[] = [];
    const world = new IdleWorld();
    world.tenant.after(({ verb, path, kind }) => {
      calls.push(`${verb} ${path ?? kind?.kind ?? ''}`);
      return Promise.resolve();
    });
    await world.create({ spec: { dataStore: 'default' } });
    await world.newPod();
    await world.settle();
    await world.minutes(60);
    expect(calls.filter((call) => /metrics|FlowSchema/.test(call))).toEqual([]);
    expect((await world.read()).status?.use).toBeUndefined();
    expect(await world.cluster.admin.get(kinds.Deployment, key)).toBeDefined();
  });
});

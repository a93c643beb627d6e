import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { listedInformers } from '../../../testing/fake/listed-informers.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const hourMs = 3_600_000;
const nights = { sleep: '0 20 * * *', wake: '0 7 * * *' };
const sleep = { schedules: [nights] };

/** A control plane that is Ready at noon in UTC and sleeps at night. */
async function atNoon(
  changes: TenantControlPlaneChanges = {},
  options: ConstructorParameters<typeof TenantWorld>[0] = {},
): Promise<TenantWorld> {
  const world = new TenantWorld({ start: new Date('2030-01-01T12:00:00Z'), ...options });
  await world.create({ ...changes, spec: { dataStore: 'default', sleep, ...changes.spec } });
  await world.settle();
  return world;
}

/** Lets the time come, as in `2030-01-01T20:00:00Z`, and reconciles. */
async function at(world: TenantWorld, time: string): Promise<number | undefined> {
  await world.clock.advance(Date.parse(time) - world.clock.now().getTime());
  return (await world.settle()).afterMs;
}

const pods = async (world: TenantWorld): Promise<number | undefined> => (await world.deployment())?.spec?.replicas;
const record = async (world: TenantWorld) => (await world.read()).status?.sleep;
const annotate = (world: TenantWorld, values: Readonly<Record<string, string | null>>): Promise<void> =>
  world.change({ metadata: { annotations: values } });

describe('A control plane with a schedule', () => {
  test('falls asleep and wakes up at the times of its schedule, in its time zone', async () => {
    const timed = { schedules: [{ ...nights, timeZone: 'Europe/Berlin' }] };
    const world = await atNoon({ spec: { sleep: timed } });
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      'False Awake: awake by its schedule until 2030-01-01T19:00:00Z',
    ]);
    await at(world, '2030-01-01T18:59:59Z');
    expect(await pods(world)).toBe(2);
    await at(world, '2030-01-01T19:00:00Z');
    expect([await pods(world), await world.state(), await world.condition('Asleep')]).toEqual([0, 'Sleeping', 'True']);
    expect(await world.condition('Ready')).toContain('False Sleeping: ');
    expect(await record(world)).toMatchObject({
      state: 'Asleep',
      since: '2030-01-01T19:00:00Z',
      reason: 'Schedule',
      nextTransitionTime: '2030-01-02T06:00:00Z',
    });
    await at(world, '2030-01-02T06:00:00Z');
    expect([await pods(world), await world.state(), await world.condition('Ready')]).toEqual([2, 'Ready', 'True']);
    expect((await world.read()).spec.controlPlane.deployment.replicas).toBe(2);
  });

  test('is reconciled at the very time of the next transition, and says in Events what happens', async () => {
    const world = await atNoon();
    expect(await at(world, '2030-01-01T19:50:00Z')).toBeLessThanOrEqual(600_000);
    await at(world, '2030-01-01T20:00:00Z');
    expect(await at(world, '2030-01-02T06:59:58Z')).toBe(2000);
    await at(world, '2030-01-02T07:00:00Z');
    expect(world.events.filter((event) => /^(FallingAsleep|WakingUp|Sleeping)/.test(event))).toEqual([
      'FallingAsleep: sleeps by its schedule until 2030-01-02T07:00:00Z',
      'WakingUp: awake by its schedule until 2030-01-02T20:00:00Z',
    ]);
  });

  test('looks at the clock again within an hour, because clocks jump', async () => {
    const world = await atNoon();
    expect(await at(world, '2030-01-01T20:00:00Z')).toBeLessThanOrEqual(hourMs);
  });

  test.each([
    ['a night', '2030-01-01T23:00:00Z', 0],
    ['a night and a morning', '2030-01-02T09:00:00Z', 2],
    ['days', '2030-01-20T03:00:00Z', 0],
  ])('makes up for what its manager missed while it was down for %s', async (_name, time, expected) => {
    const world = await atNoon();
    world.restart();
    await at(world, time);
    expect(await pods(world)).toBe(expected);
  });

  test('is not put to sleep before it was Ready for the first time, and then at once', async () => {
    const world = new TenantWorld({ start: new Date('2030-01-01T22:00:00Z') });
    world.podsStart = false;
    await world.create({ spec: { dataStore: 'default', sleep } });
    await world.settle();
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      'False Starting: it is time to sleep, but it has not been Ready yet',
    ]);
    await world.startPods();
    await world.settle();
    expect([await pods(world), await world.state()]).toEqual([0, 'Sleeping']);
    expect(await record(world)).toMatchObject({ state: 'Asleep', firstReadyTime: '2030-01-01T22:00:00Z' });
  });

  test('with 0 replicas sleeps at any time', async () => {
    const world = await atNoon();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    expect(await record(world)).toMatchObject({ state: 'Asleep', reason: 'Manual' });
    await at(world, '2030-01-02T12:00:00Z');
    expect([await pods(world), await world.condition('Asleep')]).toEqual([0, 'True']);
  });

  test('that is removed wakes up, and says so', async () => {
    const world = await atNoon();
    await at(world, '2030-01-01T21:00:00Z');
    await world.change({ spec: { sleep: null } });
    await world.settle();
    expect([await pods(world), await record(world)]).toEqual([2, undefined]);
    expect(await world.condition('Asleep')).toBe('False NotRequested: ');
  });

  test('that cannot be used is reported and has no effect', async () => {
    const unusable = { schedules: [nights, { ...nights, sleep: '0 0 30 2 *' }] };
    const world = await atNoon({ spec: { sleep: unusable } });
    await at(world, '2030-01-01T21:00:00Z');
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      'False InvalidSpec: spec.sleep.schedules[1].sleep "0 0 30 2 *" never comes; no schedule has an effect',
    ]);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('that cannot be used leaves a request to sleep in force', async () => {
    const unusable = { schedules: [{ ...nights, wake: 'at dawn' }] };
    const world = await atNoon({ spec: { sleep: unusable } });
    await annotate(world, { [annotations.sleepUntil]: '2030-01-01T14:00:00Z' });
    await world.settle();
    expect([await pods(world), await world.condition('Asleep')]).toEqual([0, 'True']);
    const told = (await world.read()).status?.conditions?.find(({ type }) => type === 'Asleep');
    expect(told?.message).toContain('no schedule has an effect');
    await at(world, '2030-01-01T14:00:00Z');
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      expect.stringContaining('False InvalidSpec'),
    ]);
  });

  test('does not change while the control plane is paused', async () => {
    const world = await atNoon();
    await annotate(world, { [annotations.paused]: 'true' });
    await at(world, '2030-01-01T21:00:00Z');
    expect(await pods(world)).toBe(2);
    await annotate(world, { [annotations.paused]: null });
    await at(world, '2030-01-01T22:00:00Z');
    await annotate(world, { [annotations.paused]: 'true' });
    await at(world, '2030-01-02T08:00:00Z');
    expect(await pods(world)).toBe(0);
  });

  test('lets a rotation that is requested while it sleeps wait, and does not fall asleep in its middle', async () => {
    const world = await atNoon();
    await at(world, '2030-01-01T20:00:00Z');
    await annotate(world, { [annotations.operation]: 'rotate-ca-start' });
    await world.settle();
    const phase = async () => (await world.read()).status?.certificates?.rotation?.certificateAuthorities?.phase;
    expect([await phase(), await pods(world), await world.condition('Asleep')]).toEqual(['Preparing', 0, 'True']);
    world.podsStart = false;
    await at(world, '2030-01-02T07:00:00Z');
    expect([await phase(), await pods(world)]).toEqual(['Preparing', 2]);
    await at(world, '2030-01-02T20:00:00Z');
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      'False WorkUnderWay: it is time to sleep, but its CAs are being rotated',
    ]);
  });

  test('does not wake up for an autoscaler', async () => {
    const autoscaling = { minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80 };
    const { controlPlane } = tenantControlPlaneWith({ deployment: { autoscaling } }).spec;
    const world = await atNoon({ spec: { controlPlane } });
    await at(world, '2030-01-01T20:00:00Z');
    expect(await world.cluster.admin.get(kinds.HorizontalPodAutoscaler, key)).toBeUndefined();
    await world.cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body: { spec: { replicas: 3 } } });
    await world.settle();
    expect([await pods(world), await world.state()]).toEqual([0, 'Sleeping']);
    expect(await world.condition('Autoscaled')).toContain('False Sleeping: it sleeps by its schedule');
    await at(world, '2030-01-02T07:00:00Z');
    expect(await pods(world)).toBe(2);
    expect(await world.cluster.admin.get(kinds.HorizontalPodAutoscaler, key)).toBeDefined();
  });

  test('gets a new minor that is chosen while it sleeps when it is awake', async () => {
    const world = await atNoon({ kubernetes: { version: 'v1.35.4' } });
    await at(world, '2030-01-01T20:00:00Z');
    await world.change({ spec: { kubernetes: { version: 'v1.36.3' } } });
    await at(world, '2030-01-01T21:00:00Z');
    expect(await world.condition('UpgradeAllowed')).toContain(
      'False Sleeping: upgrade from v1.35.4 to v1.36.3 is held',
    );
    const installed = async () => (await world.read()).status?.kubernetesResources?.version?.version;
    expect([await installed(), await pods(world)]).toEqual(['v1.35.4', 0]);
    await at(world, '2030-01-02T07:00:00Z');
    expect([await installed(), await world.state()]).toEqual(['v1.36.3', 'Ready']);
  });

  test('is deleted while it sleeps', async () => {
    const world = await atNoon();
    await at(world, '2030-01-01T20:00:00Z');
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.settle();
    expect(await world.exists()).toBe(false);
  });
});

describe('A backup or restore', () => {
  test.each([
    [
      'TenantBackup',
      { spec: {}, status: { phase: 'Running', source: { tenantControlPlaneName: 'tenant' } } },
      'TenantBackup once backs it up',
    ],
    [
      'TenantRestore',
      { spec: { tenantControlPlaneName: 'tenant' }, status: { phase: 'Running' } },
      'TenantRestore once restores it',
    ],
  ])('that runs delays sleep until it has ended: %s', async (kind, rest, why) => {
    const process = {
      apiVersion: 'a/v1',
      kind,
      metadata: { name: 'once', namespace: 'default', uid: 'u', resourceVersion: '1' },
    };
    let running = [{ ...process, ...rest }];
    const world = await atNoon({}, { informers: () => listedInformers({ [kind]: () => running }) });
    await at(world, '2030-01-01T20:00:00Z');
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      `False WorkUnderWay: it is time to sleep, but ${why}`,
    ]);
    expect(world.events.at(-1)).toBe(`SleepDelayed: it is time to sleep, but ${why}`);
    running = [];
    await world.settle();
    expect([await pods(world), await world.condition('Asleep')]).toEqual([0, 'True']);
    running = [{ ...process, ...rest }];
    await world.settle();
    expect(await pods(world)).toBe(0);
  });
});

describe('A person', () => {
  test('keeps a control plane awake in its night, until the time in the annotation', async () => {
    const world = await atNoon();
    await at(world, '2030-01-01T21:00:00Z');
    await annotate(world, { [annotations.wakeUntil]: '2030-01-02T01:00:00+02:00' });
    await world.settle();
    expect([await pods(world), await world.condition('Asleep')]).toEqual([
      2,
      `False KeptAwake: awake until 2030-01-01T23:00:00Z, as the annotation ${annotations.wakeUntil} requests`,
    ]);
    expect(await record(world)).toMatchObject({ state: 'Awake', reason: 'Manual' });
    await at(world, '2030-01-01T23:00:00Z');
    expect(await pods(world)).toBe(0);
  });

  test('puts one to sleep in its day, also without schedules', async () => {
    const world = await atNoon({ spec: { sleep: undefined } });
    expect([await record(world), await world.condition('Asleep')]).toEqual([undefined, 'absent']);
    await annotate(world, { [annotations.sleepUntil]: '2030-01-01T14:00:00Z' });
    await world.settle();
    expect([await pods(world), await world.condition('Asleep')]).toEqual([0, 'True']);
    await at(world, '2030-01-01T14:00:00Z');
    expect([await pods(world), await record(world)]).toEqual([2, undefined]);
  });

  test('who says both gets a control plane that is awake', async () => {
    const world = await atNoon();
    const until = '2030-01-03T00:00:00Z';
    await annotate(world, { [annotations.wakeUntil]: until, [annotations.sleepUntil]: until });
    await at(world, '2030-01-01T20:00:00Z');
    expect(await pods(world)).toBe(2);
  });

  test('reads that an annotation without a time has no effect', async () => {
    const world = await atNoon();
    await annotate(world, { [annotations.wakeUntil]: 'tomorrow' });
    await at(world, '2030-01-01T20:00:00Z');
    expect(await pods(world)).toBe(0);
    const told = (await world.read()).status?.conditions?.find(({ type }) => type === 'Asleep');
    expect(told?.message).toContain(
      `the annotation ${annotations.wakeUntil} has no effect: its value is no RFC 3339 time`,
    );
  });
});

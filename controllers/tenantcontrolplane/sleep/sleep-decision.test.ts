import { describe, expect, test } from '@jest/globals';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { ScheduleAnswers } from './schedule-answers.ts';
import { sleepDecision } from './sleep-decision.ts';
import { workUnderWay } from './work-under-way.ts';

const sleep = { schedules: [{ sleep: '0 20 * * *', wake: '0 7 * * *' }] };
const answers = new ScheduleAnswers();
const noon = new Date('2030-01-01T12:00:00Z');
const night = new Date('2030-01-01T22:00:00Z');
const was = (state: 'Awake' | 'Asleep') =>
  ({ state, since: '2029-12-31T00:00:00Z', reason: 'Schedule', firstReadyTime: '2029-01-01T00:00:00Z' }) as const;

type Status = NonNullable<TenantControlPlaneChanges['status']>;
const withStatus = (status: Status) => tenantControlPlaneWith({ spec: { sleep }, status });
const decide = (status: Status, now: Date) =>
  sleepDecision(withStatus(status), now, { answers, underWay: () => workUnderWay(withStatus(status)) });

describe('The decision about sleep', () => {
  test('is the same for every manager, whatever was decided before, and also when the clock jumps', () => {
    const states = [night, noon, night].flatMap((now) =>
      (['Awake', 'Asleep'] as const).map((before) => decide({ sleep: was(before) }, now).status?.state),
    );
    expect(states).toEqual(['Asleep', 'Asleep', 'Awake', 'Awake', 'Asleep', 'Asleep']);
  });

  test('says since when', () => {
    expect(decide({ sleep: was('Asleep') }, night).status?.since).toBe('2029-12-31T00:00:00Z');
    expect(decide({ sleep: was('Awake') }, night).status?.since).toBe('2030-01-01T22:00:00Z');
  });

  test('records for how long it slept, and whether a schedule or a person woke it up', () => {
    const slept = { ...was('Asleep'), since: '2030-01-01T10:00:00Z' };
    expect(decide({ sleep: slept }, noon).status?.ended).toEqual({ seconds: 7200, bySchedule: 1, byPerson: 0 });
    const ended = { seconds: 100, bySchedule: 4, byPerson: 5 };
    expect(decide({ sleep: { ...slept, reason: 'Manual', ended } }, noon).status?.ended).toEqual({
      ...{ seconds: 7300, bySchedule: 4, byPerson: 6 },
    });
    expect(decide({ sleep: { ...slept, ended } }, night).status?.ended).toEqual(ended);
    expect(decide({ sleep: was('Awake') }, noon).status?.ended).toBeUndefined();
  });

  test('records no less than a metric showed that counted whole seconds until then', () => {
    const slept = { ...was('Asleep'), since: '2030-01-01T10:00:00Z' };
    const later = new Date(noon.getTime() + 1);
    expect(decide({ sleep: slept }, later).status?.ended?.seconds).toBe(7201);
  });

  const at = (annotated: Readonly<Record<string, string>>, now: string) =>
    sleepDecision(
      tenantControlPlaneWith({
        metadata: { annotations: annotated },
        spec: { sleep },
        status: { sleep: was('Awake') },
      }),
      new Date(now),
      { answers, underWay: () => undefined },
    ).status;

  test('is that of the annotation whose time comes last, once the other one has ended', () => {
    const both = {
      [annotations.wakeUntil]: '2030-01-01T12:30:00Z',
      [annotations.sleepUntil]: '2030-01-01T14:00:00Z',
    };
    expect(at(both, '2030-01-01T12:00:00Z')).toMatchObject({
      state: 'Awake',
      nextTransitionTime: '2030-01-01T12:30:00Z',
    });
    expect(at(both, '2030-01-01T12:30:00Z')).toMatchObject({
      state: 'Asleep',
      nextTransitionTime: '2030-01-01T14:00:00Z',
    });
    expect(at(both, '2030-01-01T14:00:00Z')).toMatchObject({
      state: 'Awake',
      nextTransitionTime: '2030-01-01T20:00:00Z',
    });
  });

  test('does not change at the end of an annotation if the schedule goes on with the same', () => {
    const awake = { [annotations.wakeUntil]: '2030-01-01T13:00:00Z' };
    expect(at(awake, '2030-01-01T12:00:00Z')?.nextTransitionTime).toBe('2030-01-01T20:00:00Z');
    const asleep = { [annotations.sleepUntil]: '2030-01-01T23:00:00Z' };
    expect(at(asleep, '2030-01-01T12:00:00Z')?.nextTransitionTime).toBe('2030-01-02T07:00:00Z');
  });

  const migration = {
    source: { dataStoreName: 'a' },
    target: { dataStoreName: 'b' },
    startedAt: '2030-01-01T00:00:00Z',
  };
  const rotation = { lastInitiationTime: '2030-01-01T00:00:00Z' };
  const encryption = { revision: 1, resources: [], distributed: true } as const;

  test.each<[string, Status, string]>([
    [
      'a migration',
      { storage: { migration: { ...migration, phase: 'Copying' } } },
      'its data is being migrated to DataStore b',
    ],
    [
      'a rotation of CAs',
      { certificates: { rotation: { certificateAuthorities: { ...rotation, phase: 'Preparing' } } } },
      'its CAs are being rotated',
    ],
    [
      'a rotation of the service-account key',
      { certificates: { rotation: { serviceAccountKey: { ...rotation, phase: 'Completing' } } } },
      'its service-account key is being rotated',
    ],
    [
      'a rotation at once',
      { kubernetesResources: { version: { status: 'CertificateAuthorityRotating' } } },
      'its CAs are being rotated',
    ],
    [
      'a change of encryption',
      { encryption: { ...encryption, step: 'Rewriting' } },
      'the encryption of its data is being changed',
    ],
    ['an upgrade', { kubernetesResources: { version: { status: 'Upgrading' } } }, 'it is being upgraded'],
  ])('waits for %s to end before it falls asleep, and does not wake up for it', (_name, status, message) => {
    const before = decide({ ...status, sleep: was('Awake') }, night);
    expect([before.status?.state, before.delayed]).toEqual(['Awake', { by: 'WorkUnderWay', message }]);
    expect(decide({ ...status, sleep: was('Asleep') }, night).status?.state).toBe('Asleep');
  });

  test.each<[string, Status]>([
    ['a migration that has failed', { storage: { migration: { ...migration, phase: 'Failed' } } }],
    [
      'a rotation that waits for a person',
      { certificates: { rotation: { certificateAuthorities: { ...rotation, phase: 'Prepared' } } } },
    ],
    ['an encryption that is as in the spec', { encryption: { ...encryption, step: 'Done' } }],
  ])('does not wait for %s', (_name, status) => {
    expect(decide({ ...status, sleep: was('Awake') }, night).status?.state).toBe('Asleep');
  });
});

describe('The decision about one that was called in its night', () => {
  const spec = { sleep: { ...sleep, afterIdle: '30m', wakeOn: ['Request', 'Schedule'] } } as const;
  const idle = { state: 'Idle', since: night, unusedMs: 30 * 60_000, isProven: true } as const;
  const inUse = { state: 'InUse', since: night, unusedMs: 0, isProven: true } as const;
  type Status = NonNullable<ReturnType<typeof sleepDecision>['status']>;
  type Facts = Partial<Parameters<typeof sleepDecision>[2]>;

  /** Decides again and again, with what each decision has recorded. */
  function story(): (time: string, facts?: Facts, annotated?: Readonly<Record<string, string>>) => Status | undefined {
    let status: Status | undefined = was('Asleep');
    return (time, facts = {}, annotated = {}) => {
      const tcp = tenantControlPlaneWith({ metadata: { annotations: annotated }, spec, status: { sleep: status } });
      ({ status } = sleepDecision(tcp, new Date(time), { answers, underWay: () => undefined, ...facts }));
      return status;
    };
  }
  const called = { state: 'Awake', reason: 'Request', requestTime: '2030-01-01T23:00:00Z' };

  test('does not forget the call while a backup keeps it awake, and somebody begins to use it again', () => {
    const at = story();
    expect(at('2030-01-01T23:00:00Z', { isCalled: true })).toMatchObject(called);
    const underWay = (): string => 'TenantBackup once backs it up';
    expect(at('2030-01-01T23:35:00Z', { use: idle, underWay })).toMatchObject(called);
    expect(at('2030-01-01T23:40:00Z', { use: inUse, underWay })).toMatchObject(called);
    expect(at('2030-01-01T23:45:00Z', { use: inUse })).toMatchObject(called);
    expect(at('2030-01-02T00:15:00Z', { use: idle })).toMatchObject({ state: 'Asleep', reason: 'Schedule' });
  });

  test('does not forget the call while an annotation decides', () => {
    const at = story();
    at('2030-01-01T23:00:00Z', { isCalled: true });
    const wake = { [annotations.wakeUntil]: '2030-01-01T23:30:00Z' };
    expect(at('2030-01-01T23:10:00Z', { use: inUse }, wake)).toMatchObject({ state: 'Awake', reason: 'Manual' });
    expect(at('2030-01-01T23:30:00Z', { use: inUse }, wake)).toMatchObject(called);
    const underWay = (): string => 'TenantBackup once backs it up';
    const asleep = { [annotations.sleepUntil]: '2030-01-01T23:50:00Z' };
    expect(at('2030-01-01T23:40:00Z', { use: inUse, underWay }, asleep)).toMatchObject({ state: 'Awake' });
    expect(at('2030-01-01T23:50:00Z', { use: inUse }, asleep)).toMatchObject(called);
  });

  test('forgets it when it falls asleep, and in the morning', () => {
    const at = story();
    at('2030-01-01T23:00:00Z', { isCalled: true });
    const asleep = { [annotations.sleepUntil]: '2030-01-01T23:50:00Z' };
    expect(at('2030-01-01T23:40:00Z', {}, asleep)?.requestTime).toBeUndefined();
    expect(at('2030-01-01T23:50:00Z')?.state).toBe('Asleep');
    at('2030-01-02T00:00:00Z', { isCalled: true });
    expect(at('2030-01-02T07:00:00Z', { use: inUse })).toMatchObject({ state: 'Awake', reason: 'Schedule' });
    expect(at('2030-01-02T07:00:01Z', { use: inUse })?.requestTime).toBeUndefined();
  });

  test('is made again when the annotation ends, also if the state stays', () => {
    const tcp = tenantControlPlaneWith({
      metadata: { annotations: { [annotations.sleepUntil]: '2030-01-01T22:10:00Z' } },
      spec,
      status: { sleep: was('Asleep') },
    });
    const { afterMs, status } = sleepDecision(tcp, night, { answers, underWay: () => undefined });
    expect([afterMs, status?.nextTransitionTime]).toEqual([600_000, '2030-01-02T07:00:00Z']);
  });
});

describe('The decision about one whose schedules do not wake it up', () => {
  type SleepSpec = NonNullable<NonNullable<TenantControlPlaneChanges['spec']>['sleep']>;
  type SleepStatus = NonNullable<ReturnType<typeof sleepDecision>['status']>;
  const onRequest: SleepSpec = { ...sleep, wakeOn: ['Request'] };
  const evening: SleepStatus = { ...was('Awake'), port: 20_001 };
  type Facts = Partial<Parameters<typeof sleepDecision>[2]> & {
    readonly annotated?: Readonly<Record<string, string>>;
    readonly replicas?: number;
  };

  /** Decides again and again, with what each decision has recorded. */
  function story(from: SleepStatus = evening) {
    let status: SleepStatus | undefined = from;
    return (time: string, spec = onRequest, { annotated = {}, replicas = 2, ...facts }: Facts = {}) => {
      const metadata = { annotations: annotated };
      const made = tenantControlPlaneWith({ metadata, spec: { sleep: spec }, status: { sleep: status } });
      const { controlPlane } = made.spec;
      const deployment = { ...controlPlane.deployment, replicas };
      const tcp = { ...made, spec: { ...made.spec, controlPlane: { ...controlPlane, deployment } } };
      const decision = sleepDecision(tcp, new Date(time), { answers, underWay: () => undefined, ...facts });
      ({ status } = decision);
      return decision;
    };
  }
  const asleep = { state: 'Asleep', reason: 'Schedule' };
  const awake = { state: 'Awake', reason: 'Schedule' };

  test('sleeps on when its time to sleep has ended, until it is called, and falls asleep again the next evening', () => {
    const at = story();
    expect(at('2030-01-01T20:00:00Z').status).toMatchObject(asleep);
    const morning = at('2030-01-02T07:00:00Z');
    expect(morning.status).toMatchObject({ ...asleep, since: '2030-01-01T20:00:00Z' });
    expect([morning.status?.nextTransitionTime, morning.afterMs]).toEqual([undefined, undefined]);
    const called = at('2030-01-02T09:00:00Z', onRequest, { isCalled: true }).status;
    expect(called).toMatchObject({ ...awake, nextTransitionTime: '2030-01-02T20:00:00Z', ended: { byRequest: 1 } });
    expect(at('2030-01-02T19:59:59Z').status).toMatchObject(awake);
    expect(at('2030-01-02T20:00:00Z').status).toMatchObject(asleep);
  });

  test('does not know when it wakes up, and is asked again when its time to sleep ends if it was called in it', () => {
    const at = story();
    const dusk = at('2030-01-01T20:00:00Z');
    expect(dusk.status?.nextTransitionTime).toBeUndefined();
    const called = at('2030-01-02T06:30:00Z', onRequest, { isCalled: true });
    expect(called.status).toMatchObject({ state: 'Awake', reason: 'Request' });
    expect([called.status?.nextTransitionTime, called.afterMs]).toEqual([undefined, 30 * 60_000]);
    expect(at('2030-01-02T07:00:00Z').status).toMatchObject({ ...awake, nextTransitionTime: '2030-01-02T20:00:00Z' });
  });

  test.each<[string, SleepSpec, Facts, object]>([
    ['wakeOn lists Schedule', { ...sleep, wakeOn: ['Request', 'Schedule'] }, {}, awake],
    ['wakeOn is removed', sleep, {}, awake],
    ['its schedules are removed', { afterIdle: '30m', wakeOn: ['Request'] }, {}, { state: 'Awake' }],
    ['a schedule cannot be read', { schedules: [{ sleep: 'x', wake: 'y' }], wakeOn: ['Request'] }, {}, awake],
    [
      'a person requests it',
      onRequest,
      { annotated: { [annotations.wakeUntil]: '2030-01-02T09:05:00Z' } },
      { state: 'Awake', reason: 'Manual' },
    ],
  ])('wakes up when %s', (_name, spec, facts, expected) => {
    const at = story();
    at('2030-01-01T20:00:00Z');
    expect(at('2030-01-02T08:00:00Z').status).toMatchObject(asleep);
    const { status } = at('2030-01-02T09:00:00Z', spec, facts);
    expect(status).toMatchObject(expected);
  });

  test('stays awake when the time of a person to be awake has ended at a time at which its schedules let it', () => {
    const at = story();
    at('2030-01-01T20:00:00Z');
    at('2030-01-02T09:00:00Z', onRequest, { annotated: { [annotations.wakeUntil]: '2030-01-02T09:05:00Z' } });
    expect(at('2030-01-02T09:05:00Z').status).toMatchObject(awake);
  });

  test('wakes up when the time ends for which a person has let it sleep', () => {
    const at = story();
    const annotated = { [annotations.sleepUntil]: '2030-01-02T09:00:00Z' };
    const requested = at('2030-01-02T08:00:00Z', onRequest, { annotated });
    expect(requested.status).toMatchObject({ state: 'Asleep', reason: 'Manual' });
    expect(requested.status?.nextTransitionTime).toBe('2030-01-02T09:00:00Z');
    expect(at('2030-01-02T09:00:00Z', onRequest, { annotated }).status).toMatchObject(awake);
  });

  test('sleeps on as well when it fell asleep because nobody used it', () => {
    const spec: SleepSpec = { ...onRequest, afterIdle: '30m' };
    const at = story();
    const use = { state: 'Idle', since: noon, unusedMs: 30 * 60_000, isProven: true } as const;
    const unused = at('2030-01-01T12:30:00Z', spec, { use }).status;
    expect(unused).toMatchObject({ state: 'Asleep', reason: 'Use' });
    expect(unused?.nextTransitionTime).toBeUndefined();
    expect(at('2030-01-01T20:00:00Z', spec).status).toMatchObject(asleep);
    expect(at('2030-01-02T07:00:00Z', spec).status).toMatchObject(asleep);
    expect(at('2030-01-03T07:00:00Z', spec).status).toMatchObject({ ...asleep, since: '2030-01-01T12:30:00Z' });
  });

  test('is woken up by its schedules as long as nobody can call it, because it has no port of the activator', () => {
    const at = story(was('Awake'));
    expect(at('2030-01-01T20:00:00Z').status).toMatchObject({ ...asleep, nextTransitionTime: '2030-01-02T07:00:00Z' });
    expect(at('2030-01-02T07:00:00Z').status).toMatchObject(awake);
  });

  test('sleeps on without a port if it waits for nothing but a person', () => {
    const spec: SleepSpec = { ...sleep, wakeOn: ['Manual'] };
    const at = story(was('Awake'));
    at('2030-01-01T20:00:00Z', spec);
    expect(at('2030-01-02T07:00:00Z', spec).status).toMatchObject(asleep);
  });

  test('wakes up at the end of the time for which a person has let it sleep longer than its schedules', () => {
    const at = story();
    const annotated = { [annotations.sleepUntil]: '2030-01-02T09:00:00Z' };
    at('2030-01-01T20:00:00Z');
    at('2030-01-02T06:00:00Z', onRequest, { annotated });
    expect(at('2030-01-02T08:00:00Z', onRequest, { annotated }).status).toMatchObject({ state: 'Asleep' });
    expect(at('2030-01-02T09:00:00Z', onRequest, { annotated }).status).toMatchObject(awake);
  });

  test('wakes up when a person sets its replicas from 0 to more, but not in its time to sleep', () => {
    const at = story();
    at('2030-01-02T09:00:00Z', onRequest, { replicas: 0 });
    expect(at('2030-01-02T10:00:00Z').status).toMatchObject(awake);
    at('2030-01-02T21:00:00Z', onRequest, { replicas: 0 });
    expect(at('2030-01-02T22:00:00Z').status).toMatchObject(asleep);
    expect(at('2030-01-03T10:00:00Z', onRequest, { replicas: 3 }).status).toMatchObject(asleep);
  });

  test('sleeps on once when several times to sleep follow each other', () => {
    const weekend = { sleep: '0 18 * * 5', wake: '0 7 * * 1' };
    const spec: SleepSpec = { schedules: [...sleep.schedules, weekend], wakeOn: ['Request'] };
    const at = story();
    // A Friday.
    expect(at('2030-01-04T18:00:00Z', spec).status).toMatchObject(asleep);
    for (const time of ['2030-01-05T07:00:00Z', '2030-01-07T07:00:00Z', '2030-01-07T12:00:00Z'])
      expect(at(time, spec).status).toMatchObject({ ...asleep, since: '2030-01-04T18:00:00Z' });
    expect(at('2030-01-07T13:00:00Z', spec, { isCalled: true }).status).toMatchObject(awake);
  });

  test('stays awake after a call by day until nobody has used it for afterIdle', () => {
    const spec: SleepSpec = { ...onRequest, afterIdle: '30m' };
    const at = story();
    at('2030-01-01T20:00:00Z', spec);
    expect(at('2030-01-02T09:00:00Z', spec, { isCalled: true }).status).toMatchObject({ state: 'Awake' });
    const use = { state: 'Idle', since: noon, unusedMs: 30 * 60_000, isProven: true } as const;
    expect(at('2030-01-02T09:45:00Z', spec, { use }).status).toMatchObject({ state: 'Asleep', reason: 'Use' });
  });

  test('stays awake when nobody could put it to sleep in the whole time for that', () => {
    const at = story();
    at('2030-01-01T19:55:00Z');
    expect(at('2030-01-02T07:05:00Z').status).toMatchObject(awake);
  });

  test('is woken up by an upgrade of its Cluster, and stays awake until its next time to sleep', () => {
    const at = story();
    at('2030-01-01T20:00:00Z');
    const annotated = { [annotations.clusterUpgrade]: 'v1.37.0' };
    const woken = at('2030-01-02T09:00:00Z', onRequest, { annotated }).status;
    expect(woken).toMatchObject({ state: 'Awake', ended: { byUpgrade: 1 } });
    expect(at('2030-01-02T09:00:01Z', onRequest, { annotated }).status).toMatchObject(awake);
    expect(at('2030-01-02T10:00:00Z').status).toMatchObject(awake);
    expect(at('2030-01-02T20:00:00Z').status).toMatchObject(asleep);
  });
});

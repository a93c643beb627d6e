import { describe, expect, test } from '@jest/globals';
import type { SleepSpec } from '../../../api/embedded/sleep.ts';
import { annotations } from '../../../api/names.ts';
import type { SleepStatus } from '../../../api/steward/v1alpha1/sleep/sleep-status.ts';
import { ScheduleAnswers } from './schedule-answers.ts';
import { sleepDecision } from './sleep-decision.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { WakingWorld, nights } from '../../../testing/worlds/sleep/waking-world.ts';

const spec: SleepSpec = { schedules: [nights] };

/** A control plane that sleeps in the night, and whose Cluster gets another version then. */
class UpgradedWorld extends WakingWorld {
  static async inItsNight(annotated: Readonly<Record<string, string>> = {}): Promise<UpgradedWorld> {
    const world = new UpgradedWorld();
    await world.create({
      kubernetes: { version: 'v1.35.4' },
      spec: { dataStore: 'default', sleep: spec },
    });
    await world.settle();
    await world.change({ metadata: { annotations: annotated } });
    await world.at('2030-01-01T21:00:00Z');
    expect(await world.pods()).toBe(0);
    return world;
  }

  /** What the StewardControlPlane writes. */
  async upgrade(version: string | null): Promise<void> {
    await this.change({ metadata: { annotations: { [annotations.clusterUpgrade]: version } } });
    if (version !== null) await this.change({ spec: { kubernetes: { version } } });
    await this.settle();
  }

  async installed(): Promise<string | undefined> {
    return (await this.read()).status?.kubernetesResources?.version?.version;
  }
}

describe('An upgrade of its Cluster', () => {
  test('wakes a control plane that sleeps, which is upgraded, and falls asleep again when it is over', async () => {
    const world = await UpgradedWorld.inItsNight();
    await world.upgrade('v1.36.3');
    expect([await world.pods(), await world.installed(), await world.condition('Asleep')]).toEqual([
      2,
      'v1.36.3',
      'False WorkUnderWay: it is time to sleep, but its Cluster is being upgraded to v1.36.3',
    ]);
    expect(world.events).toContain('WakingUp: it is time to sleep, but its Cluster is being upgraded to v1.36.3');
    // Its workers are upgraded meanwhile.
    await world.at('2030-01-01T22:00:00Z');
    expect(await world.pods()).toBe(2);
    await world.upgrade(null);
    expect([await world.pods(), await world.installed()]).toEqual([0, 'v1.36.3']);
    expect((await world.read()).status?.sleep).toMatchObject({
      state: 'Asleep',
      reason: 'Schedule',
      ended: { bySchedule: 0, byUpgrade: 1, byPerson: 0 },
    });
    await world.at('2030-01-02T07:00:00Z');
    expect((await world.read()).status?.sleep?.ended).toMatchObject({ bySchedule: 1, byUpgrade: 1 });
  });

  test('keeps one awake that should fall asleep', async () => {
    const world = await UpgradedWorld.inItsNight();
    await world.at('2030-01-02T12:00:00Z');
    await world.upgrade('v1.36.3');
    await world.at('2030-01-02T21:00:00Z');
    expect([await world.pods(), (await world.read()).status?.sleep?.ended?.byUpgrade]).toEqual([2, undefined]);
  });

  test('waits while a person has put it to sleep, and says so', async () => {
    const world = await UpgradedWorld.inItsNight({ [annotations.sleepUntil]: '2030-01-03T12:00:00Z' });
    await world.upgrade('v1.36.3');
    expect([await world.pods(), await world.installed(), await world.condition('Asleep')]).toEqual([
      0,
      'v1.35.4',
      'True',
    ]);
    expect(await world.condition('UpgradeAllowed')).toContain(
      `False Sleeping: upgrade from v1.35.4 to v1.36.3 is held: the annotation ${annotations.sleepUntil} is set`,
    );
    await world.at('2030-01-03T12:00:00Z');
    expect([await world.pods(), await world.installed()]).toEqual([2, 'v1.36.3']);
  });

  test('waits while it has 0 replicas, and says so', async () => {
    const world = await UpgradedWorld.inItsNight();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.upgrade('v1.36.3');
    expect([await world.pods(), await world.installed()]).toEqual([0, 'v1.35.4']);
    expect(await world.condition('UpgradeAllowed')).toContain('spec.controlPlane.deployment.replicas is 0');
  });

  test('wakes one up that nobody used, which falls asleep when nobody has used it for as long again', () => {
    const asleep = {
      state: 'Asleep',
      since: '2030-01-01T12:00:00Z',
      reason: 'Use',
      firstReadyTime: '2029-01-01T00:00:00Z',
    } as const;
    const of = (sleep: SleepStatus | undefined, upgrade?: string) =>
      tenantControlPlaneWith({
        metadata: { annotations: upgrade === undefined ? {} : { [annotations.clusterUpgrade]: upgrade } },
        spec: { sleep: { afterIdle: '30m' } },
        status: { sleep },
      });
    const facts = { answers: new ScheduleAnswers(), underWay: () => undefined };
    const now = new Date('2030-01-01T13:00:00Z');
    const since = now;
    const woken = sleepDecision(of(asleep, 'v1.36.3'), now, facts);
    expect([woken.status?.state, woken.delayed?.by, woken.status?.ended?.byUpgrade]).toEqual([
      'Awake',
      'WorkUnderWay',
      1,
    ]);
    const used = { state: 'InUse', since, unusedMs: 0, isProven: true } as const;
    expect(sleepDecision(of(woken.status), now, { ...facts, use: used })).toMatchObject({ status: { state: 'Awake' } });
    const idle = { state: 'Idle', since, unusedMs: 1_800_000, isProven: true } as const;
    const end = sleepDecision(of(woken.status), now, { ...facts, use: idle });
    expect(end.status).toMatchObject({ state: 'Asleep', reason: 'Use' });
  });

  test('is none for a control plane of its own, whose new minor waits until it is awake', async () => {
    const world = await UpgradedWorld.inItsNight();
    await world.change({ spec: { kubernetes: { version: 'v1.36.3' } } });
    await world.settle();
    expect([await world.pods(), await world.installed()]).toEqual([0, 'v1.35.4']);
  });
});

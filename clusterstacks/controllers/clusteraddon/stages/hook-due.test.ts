import { describe, expect, test } from '@jest/globals';
import type { AddonHook, AddonStage } from '../../../sources/cluster-addon-config.ts';
import type { Situation } from './hook-due.ts';
import { hookDue, keptStages } from './hook-due.ts';

const apply = (name: string): AddonStage => ({ name, action: 'apply' });
const stages = {
  AfterControlPlaneInitialized: [apply('cni'), apply('metrics')],
  BeforeClusterUpgrade: [apply('cni')],
  AfterClusterUpgrade: [apply('metrics')],
};

function situation(
  record: Partial<Situation['record']> = {},
  other: Partial<Omit<Situation, 'record'>> = {},
): Situation {
  return {
    className: 'v2',
    release: { addonVersion: 'v2', kubernetes: 'v1.36.3', config: { stages } },
    isInitialized: true,
    controlPlaneVersion: 'v1.35.6',
    upgradeAwaits: 'the control plane runs v1.35.6',
    record: { completedClass: '', addonVersion: '', completedHooks: [], ...record },
    ...other,
  };
}

describe('The hook that is due', () => {
  test('is none before the control plane is initialized', () => {
    expect(hookDue(situation({}, { isInitialized: false }))).toEqual({ is: 'wait' });
  });

  test('defect 9: starts the add-ons of an existing Cluster without a call of Cluster API', () => {
    expect(hookDue(situation())).toMatchObject({
      is: 'run',
      hook: 'AfterControlPlaneInitialized',
      stages: stages.AfterControlPlaneInitialized,
      completes: ['AfterControlPlaneInitialized'],
    });
  });

  test('is that before the upgrade if the class is another one', () => {
    const step = hookDue(situation({ completedClass: 'v1', addonVersion: 'v1' }));
    expect(step).toMatchObject({ is: 'run', hook: 'BeforeClusterUpgrade', stages: stages.BeforeClusterUpgrade });
  });

  test('is that before the upgrade also if only the add-ons change and Cluster API calls nothing', () => {
    const step = hookDue(situation({ completedClass: 'v1', addonVersion: 'v1' }, { controlPlaneVersion: 'v1.36.3' }));
    expect(step).toMatchObject({ is: 'run', hook: 'BeforeClusterUpgrade' });
  });

  test('is that before the upgrade also if the add-ons are the same and Kubernetes is not, because charts may depend on it', () => {
    const step = hookDue(situation({ completedClass: 'v1', addonVersion: 'v2' }));
    expect(step).toMatchObject({ is: 'run', hook: 'BeforeClusterUpgrade' });
  });

  const sameVersions = (completedClass: string) =>
    hookDue(
      situation(
        { completedClass, addonVersion: 'v2' },
        { className: 'default/docker-scs-1-36-v2', controlPlaneVersion: 'v1.36.3' },
      ),
    );

  test('is none if another class of the stack has the same add-ons and the same Kubernetes', () => {
    expect(sameVersions('default/docker-scs-1-36-v1')).toEqual({ is: 'record' });
  });

  test.each(['default/docker-other-1-36-v2', 'elsewhere/docker-scs-1-36-v2'])(
    'is that before the upgrade if the previous class is %s, because its add-ons of that version differ',
    (completedClass) => {
      expect(sameVersions(completedClass)).toMatchObject({ is: 'run', hook: 'BeforeClusterUpgrade' });
    },
  );

  test('is the first one again if the add-ons of no release were ever completed', () => {
    const step = hookDue(situation({ completedClass: '', addonVersion: 'v1' }));
    expect(step).toMatchObject({ is: 'run', hook: 'AfterControlPlaneInitialized' });
  });

  test('is that after the upgrade only when control plane and workers have the version', () => {
    const completedHooks: readonly AddonHook[] = ['BeforeClusterUpgrade'];
    const record = { completedClass: 'v2', addonVersion: 'v2', completedHooks };
    expect(hookDue(situation(record))).toEqual({ is: 'rest', awaits: 'the control plane runs v1.35.6' });
    expect(hookDue(situation(record, { upgradeAwaits: undefined }))).toMatchObject({
      is: 'run',
      hook: 'AfterClusterUpgrade',
      completes: ['BeforeClusterUpgrade', 'AfterClusterUpgrade'],
    });
  });

  test.each<readonly [string, readonly AddonHook[]]>([
    ['a first installation', ['AfterControlPlaneInitialized']],
    ['an upgrade that is over', ['BeforeClusterUpgrade', 'AfterClusterUpgrade']],
  ])('is none after %s', (_, completedHooks) => {
    const record = { completedClass: 'v2', addonVersion: 'v2', completedHooks };
    expect(hookDue(situation(record, { upgradeAwaits: undefined }))).toEqual({ is: 'rest' });
  });
});

describe('The retained stages', () => {
  test('are those that the completed hooks applied, each once', () => {
    const hooks: readonly AddonHook[] = ['BeforeClusterUpgrade', 'AfterClusterUpgrade'];
    expect(keptStages({ stages }, hooks).map(({ name }) => name)).toEqual(['cni', 'metrics']);
    expect(keptStages({ stages }, ['BeforeClusterUpgrade']).map(({ name }) => name)).toEqual(['cni']);
  });

  test('are none that a later stage deletes', () => {
    const config = { stages: { ...stages, AfterClusterUpgrade: [{ name: 'cni', action: 'delete' as const }] } };
    expect(keptStages(config, ['BeforeClusterUpgrade', 'AfterClusterUpgrade'])).toEqual([]);
  });
});

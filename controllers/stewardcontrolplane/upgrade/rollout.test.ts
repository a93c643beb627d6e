import { describe, expect, test } from '@jest/globals';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { rolloutOf } from './rollout.ts';

const [older, newer] = ['v1.35.4', 'v1.36.3'];

interface Told {
  readonly wanted?: string;
  readonly installed?: string;
  readonly updated?: number;
  readonly ready?: number;
  readonly replicas?: number;
  readonly observed?: number;
  /** Of the Deployment: its generation, and the one that its controller has observed. */
  readonly generations?: readonly [own: number | undefined, observed: number];
  readonly conditions?: Readonly<Record<string, string>>;
}

function tenant({ wanted = newer, installed = older, updated = 2, ready = 2, replicas = 2, ...rest }: Told) {
  const {
    observed = 4,
    generations: [generation, observedGeneration] = [7, 7],
    conditions = { TenantConfigured: 'True', AddonsReady: 'True' },
  } = rest;
  return {
    metadata: { generation: 4 },
    spec: { kubernetes: { version: wanted } },
    status: {
      observedGeneration: observed,
      conditions: Object.entries(conditions).map(([type, status]) => ({ type, status, message: `${type} says so` })),
      kubernetesResources: {
        version: { version: installed, status: 'Ready' },
        deployment: {
          generation,
          observedGeneration,
          replicas,
          readyReplicas: ready,
          availableReplicas: ready,
          updatedReplicas: updated,
          unavailableReplicas: replicas - ready,
        },
      },
    },
  } as unknown as TenantControlPlane;
}

describe('A version that is rolled out', () => {
  test('is reported alone once its pods and its changes inside the tenant are complete', () => {
    const rollout = rolloutOf(tenant({ installed: newer }), older);
    expect(rollout).toMatchObject({
      upToDate: 2,
      versions: { version: newer, versions: [{ version: newer, replicas: 2 }] },
    });
    expect(rollout.unfinished).toBeUndefined();
  });

  test.each(['TenantConfigured', 'AddonsReady'])(
    'is not reported as reached before %s, although all pods have it',
    (lacking) => {
      const conditions = { TenantConfigured: 'True', AddonsReady: 'True', [lacking]: 'False' };
      const rollout = rolloutOf(tenant({ installed: newer, conditions }), older);
      expect(rollout.versions).toEqual({
        version: older,
        versions: [
          { version: older, replicas: 0 },
          { version: newer, replicas: 2 },
        ],
      });
      expect(rollout.unfinished).toContain(`${lacking} says so`);
    },
  );

  test('is reported after the older one while pods of both run', () => {
    const rollout = rolloutOf(tenant({ updated: 1, replicas: 3 }), older);
    expect(rollout.versions?.versions).toEqual([
      { version: older, replicas: 2 },
      { version: newer, replicas: 1 },
    ]);
    const back = rolloutOf(tenant({ wanted: 'v1.36.1', installed: newer, updated: 1, replicas: 3 }), newer);
    expect(back.versions).toEqual({
      version: 'v1.36.1',
      versions: [
        { version: 'v1.36.1', replicas: 1 },
        { version: newer, replicas: 2 },
      ],
    });
  });

  test('has no pods while its Deployment still counts those of the previous version', () => {
    expect(rolloutOf(tenant({}), older)).toMatchObject({
      upToDate: 0,
      versions: { versions: [{ version: older, replicas: 2 }] },
    });
    expect(rolloutOf(tenant({ updated: 1, observed: 3 }), older)).toMatchObject({ upToDate: 0 });
  });

  test('has no pods while the preflight holds it, and the status says why', () => {
    const conditions = { TenantConfigured: 'True', AddonsReady: 'True', UpgradeAllowed: 'False' };
    // A pod of the running version is replaced meanwhile.
    const rollout = rolloutOf(tenant({ conditions, updated: 1, ready: 1 }), older);
    expect(rollout).toMatchObject({
      upToDate: 0,
      unfinished: 'UpgradeAllowed says so',
      versions: { version: older, versions: [{ version: older, replicas: 2 }] },
    });
  });

  test('that is reverted is finished when only pods of the previous one exist', () => {
    const rollout = rolloutOf(tenant({ wanted: older }), older);
    expect(rollout).toMatchObject({ upToDate: 2, versions: { versions: [{ version: older, replicas: 2 }] } });
    expect(rollout.unfinished).toBeUndefined();
  });

  test('of another patch is counted by the status of the Deployment', () => {
    const rollout = rolloutOf(tenant({ wanted: older, installed: 'v1.35.1', updated: 1, ready: 1 }), 'v1.35.1');
    expect(rollout.versions?.versions).toEqual([
      { version: 'v1.35.1', replicas: 1 },
      { version: older, replicas: 1 },
    ]);
  });
});

describe('A change that keeps the version', () => {
  const change = { wanted: older, installed: older };

  test('is finished when all pods have the newest template', () => {
    expect(rolloutOf(tenant(change), older).unfinished).toBeUndefined();
  });

  test('is not finished before the TenantControlPlane was reconciled for it', () => {
    const { unfinished, versions } = rolloutOf(tenant({ ...change, observed: 3 }), older);
    expect(unfinished).toBe('the latest spec of the TenantControlPlane has not been observed yet');
    expect(versions).toEqual({ version: older, versions: [{ version: older, replicas: 2 }] });
  });

  test('is not finished while its Deployment still counts the previous pods', () => {
    const { unfinished } = rolloutOf(tenant({ ...change, generations: [8, 7] }), older);
    expect(unfinished).toBe('the updated pods have not been counted yet');
  });

  test('is finished if a Deployment was written before its generation was recorded', () => {
    const old = tenant({ ...change, generations: [undefined, 7] });
    expect(rolloutOf(old, older).unfinished).toBeUndefined();
  });
});

describe('The first version', () => {
  test('is reported once workers can join, whatever add-ons wait for', () => {
    expect(rolloutOf(tenant({ installed: newer, conditions: {} }), undefined).versions).toBeUndefined();
    const rollout = rolloutOf(tenant({ installed: newer, conditions: { TenantConfigured: 'True' } }), undefined);
    expect(rollout.versions?.version).toBe(newer);
  });

  test('is reported for a control plane of an earlier manager', () => {
    expect(rolloutOf(tenant({ updated: 1 }), undefined).versions?.version).toBe(older);
  });

  test('is unknown, and so is the number of pods, before there is a Deployment', () => {
    expect(rolloutOf(undefined, undefined)).toEqual({ total: 0, ready: 0, available: 0, upToDate: 0, counted: false });
  });
});

test('Pods that are replaced without another version are reported as a rollout', () => {
  const rollout = rolloutOf(tenant({ wanted: older, updated: 1 }), older);
  expect(rollout).toMatchObject({ upToDate: 1, unfinished: '1 of 2 replicas are up to date' });
});

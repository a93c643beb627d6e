import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { Json } from '../../../api/meta.ts';
import type { MigrationPhase } from '../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { appliedReplicas, mostReplicas, wantedReplicas } from './replicas.ts';

const bounds = { minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80 };
const scaled = (replicas: number) => tenantControlPlaneWith({ deployment: { replicas, autoscaling: bounds } });
const fixed = (replicas: number) => tenantControlPlaneWith({ deployment: { replicas } });

/** A Deployment whose replicas these managers have set. */
const present = (replicas: number, ...managers: readonly Json[]): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: storedMeta({ managedFields: managers }),
  spec: { replicas, selector: {}, template: {} },
});
const owned = (manager: string, subresource?: string): Json => ({
  manager,
  ...(subresource !== undefined && { subresource }),
  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
});
const ours = owned('steward');
const autoscaler = owned('kube-controller-manager', 'scale');

describe('The replicas that are applied', () => {
  test.each([0, 1, 7])('are the %d of the spec without an autoscaler, whichever client has set others', (replicas) => {
    expect(appliedReplicas(fixed(replicas), present(3, autoscaler))).toBe(replicas);
  });

  test.each([
    [1, 2],
    [3, 3],
    [9, 5],
  ])('start with the %d of the spec within the bounds: %d', (replicas, applied) => {
    expect(appliedReplicas(scaled(replicas), undefined)).toBe(applied);
    expect(appliedReplicas(scaled(replicas), present(0, ours))).toBe(applied);
  });

  test('are left out once another client has set them', () => {
    expect(appliedReplicas(scaled(3), present(4, autoscaler))).toBeUndefined();
    expect(appliedReplicas(scaled(3), present(4, ours, owned('kubectl')))).toBeUndefined();
    expect(appliedReplicas(scaled(3), present(4, owned('steward', 'scale')))).toBeUndefined();
  });

  test('are the present ones while no other client has set them, because leaving out a field that Steward owns resets it', () => {
    expect(appliedReplicas(scaled(3), present(4, ours))).toBe(4);
    expect(appliedReplicas(scaled(3), present(4, ours, { manager: 'kubectl', fieldsV1: { 'f:spec': {} } }))).toBe(4);
  });

  test('are 0 for a control plane that sleeps', () => {
    expect(appliedReplicas(scaled(0), present(4, autoscaler))).toBe(0);
  });
});

describe('The replicas of a control plane that a migration has stopped', () => {
  const stopped = (phase: MigrationPhase, tcp: TenantControlPlane, replicas?: number): TenantControlPlane => {
    const [source, target] = [{ dataStoreName: 'a' }, { dataStoreName: 'b' }];
    const startedAt = '2030-01-01T00:00:00Z';
    const migration = {
      phase,
      source,
      target,
      startedAt,
      stoppedAt: startedAt,
      ...(replicas !== undefined && { replicas }),
    };
    return { ...tcp, status: { storage: { migration } } };
  };

  test.each(['StoppingWrites', 'Finishing'] as const)('are 0 in %s, and all of them are still wanted', (phase) => {
    for (const tcp of [fixed(3), scaled(3)]) {
      expect(appliedReplicas(stopped(phase, tcp), present(3, autoscaler))).toBe(0);
      expect(wantedReplicas(stopped(phase, tcp), present(0, ours))).toBe(3);
    }
  });

  test.each(['Following', 'Switching', 'ResumingWrites', 'RollingBack'] as const)(
    'are the usual ones in %s',
    (phase) => {
      expect(appliedReplicas(stopped(phase, fixed(3), 2), present(0, ours))).toBe(3);
      expect(appliedReplicas(stopped(phase, scaled(3)), present(0, ours))).toBe(3);
    },
  );

  test('are those that an autoscaler had set before, within its bounds', () => {
    for (const [before, now] of [
      [4, 4],
      [9, 5],
      [1, 2],
    ]) {
      expect(appliedReplicas(stopped('Switching', scaled(3), before), present(0, ours))).toBe(now);
      expect(wantedReplicas(stopped('Switching', scaled(3), before), present(0, ours))).toBe(now);
    }
  });

  test('are the usual ones after the migration', () => {
    expect(appliedReplicas(stopped('Succeeded', scaled(3), 5), present(0, ours))).toBe(3);
  });
});

describe('The wanted pods', () => {
  test('are those of the Deployment while it is autoscaled, else those of the spec', () => {
    expect(wantedReplicas(scaled(2), present(4))).toBe(4);
    expect(wantedReplicas(fixed(2), present(4))).toBe(2);
  });

  test('are those to start with before there is a Deployment, and when it wakes up', () => {
    expect(wantedReplicas(scaled(9), undefined)).toBe(5);
    expect(wantedReplicas(scaled(9), present(0))).toBe(5);
  });

  test('are none while the control plane sleeps', () => {
    expect(wantedReplicas(scaled(0), present(4))).toBe(0);
  });

  test('are at most those of the upper bound', () => {
    expect([mostReplicas(scaled(2)), mostReplicas(scaled(0)), mostReplicas(fixed(3))]).toEqual([5, 0, 3]);
  });
});

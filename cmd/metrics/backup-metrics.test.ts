import { expect, test } from '@jest/globals';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { backupPolicyWith } from '../../testing/builders/backup-policy.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { backupMetrics, measuredPolicies } from './backup-metrics.ts';

const lastBackupTime = '2030-01-01T00:00:00.000Z';
const failed = { type: 'Ready', status: 'False', reason: 'ProcessFailed', message: '' } as const;

const policy = (name: string, created: string, spec: Partial<BackupPolicy['spec']> = {}): BackupPolicy =>
  backupPolicyWith(name, {
    metadata: { namespace: 'team', creationTimestamp: created },
    spec,
    status: { lastBackupTime, conditions: [{ ...failed, lastTransitionTime: lastBackupTime }] },
  });

const shop = tenantControlPlaneWith({ metadata: { namespace: 'team', name: 'shop' } });

test('there are no more series than control planes, however many policies there are', () => {
  const [first, second] = [policy('a', '2030-01-02T00:00:00Z'), policy('b', '2030-01-01T00:00:00Z')];
  const stranger = policy('c', '2030-01-01T00:00:00Z', { tenantControlPlaneName: 'none' });
  expect(measuredPolicies([first, second, stranger], [shop])).toEqual([second]);
});

test('a suspended policy has the moment of its last backup, and is not reported as failing', () => {
  const valuesOf = (one: BackupPolicy): readonly unknown[] =>
    backupMetrics.map(({ samples }) => samples(one).map(({ value }) => value));
  expect(valuesOf(policy('a', ''))).toEqual([[1_893_456_000], [], [0]]);
  expect(valuesOf(policy('a', '', { suspend: true }))).toEqual([[1_893_456_000], [], []]);
});

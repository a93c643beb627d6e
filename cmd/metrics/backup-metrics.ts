import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionSamples } from '../../runtime/observe/condition-samples.ts';
import type { ObjectMetric } from '../../runtime/observe/object-metrics.ts';
import { sample } from './sample.ts';

const seconds = (moment: string | undefined): number | undefined =>
  moment === undefined ? undefined : Date.parse(moment) / 1000;

/** What is measured of a BackupPolicy. */
export const backupMetrics: readonly ObjectMetric<BackupPolicy>[] = [
  {
    name: 'steward_backup_last_success_timestamp_seconds',
    help: 'Moment of the newest backup of the control plane; absent before the first one',
    labels: [],
    samples: ({ status }) => sample(seconds(status?.lastBackupTime)),
  },
  {
    name: 'steward_backup_recoverable_until_timestamp_seconds',
    help: 'Latest moment that can be restored; absent before the first backup',
    labels: [],
    samples: ({ status }) => sample(seconds(status?.recoverableUntil)),
  },
  {
    name: 'steward_backup_condition',
    help: '1 for True, 0 for False, -1 for Unknown; of the conditions Ready and Rehearsed. Absent while the policy is suspended',
    labels: ['type'],
    samples: ({ spec, status }) => (spec.suspend ? [] : conditionSamples(status?.conditions, ['Ready', 'Rehearsed'])),
  },
];

/** One policy for each control plane at most, the oldest: anyone may create any number of them. */
export function measuredPolicies(
  policies: readonly BackupPolicy[],
  tenants: readonly TenantControlPlane[],
): readonly BackupPolicy[] {
  const wanted = new Set(tenants.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
  const oldest = new Map<string, BackupPolicy>();
  const age = ({ metadata }: BackupPolicy): string => `${metadata.creationTimestamp ?? ''} ${metadata.uid}`;
  for (const policy of policies) {
    const tenant = `${policy.metadata.namespace}/${policy.spec.tenantControlPlaneName}`;
    const before = oldest.get(tenant);
    if (wanted.has(tenant) && (before === undefined || age(policy) < age(before))) oldest.set(tenant, policy);
  }
  return [...oldest.values()];
}

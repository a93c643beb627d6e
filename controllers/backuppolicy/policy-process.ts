import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupSource } from '../../api/steward/v1alpha1/backup/backup-place.ts';
import type { BackupProcess } from '../../stores/backup/process/process-manifest.ts';

/** Where the backups of a policy are. */
export function sourceOf({ spec }: BackupPolicy): BackupSource {
  const { tenantControlPlaneName, encryption, storage } = spec;
  return { tenantControlPlaneName, encryption, storage };
}

/** The process that takes the backups of a policy. */
export function policyProcess(policy: BackupPolicy): BackupProcess {
  const { schedule, timeZone, interval, retention } = policy.spec;
  return {
    ...common(policy),
    component: 'backup',
    args: [
      '--follow',
      ...(interval === undefined ? [] : [`--interval=${interval}`]),
      ...(schedule === undefined ? [] : [`--schedule=${schedule}`]),
      ...(timeZone === undefined ? [] : [`--time-zone=${timeZone}`]),
      `--keep=${retention.keepLast}`,
    ],
  };
}

/** The process that removes the backups of a policy. */
export const removalProcess = (policy: BackupPolicy): BackupProcess => ({
  ...common(policy),
  component: 'removal',
  args: [],
});

function common(policy: BackupPolicy): Pick<BackupProcess, 'owner' | 'plural' | 'tenant' | 'source'> {
  const { plural } = backupPolicy;
  return { owner: policy, plural, tenant: policy.spec.tenantControlPlaneName, source: sourceOf(policy) };
}

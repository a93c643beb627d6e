import type { Manifest } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { BackupEntry, BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { sourceOf } from './policy-process.ts';

/** Room for the moment in the name of an object. */
const longestPrefix = 230;

/** The TenantBackup of a backup that the process of a policy has taken. It has no owner: the backup outlives the policy. */
export function backupManifest(policy: BackupPolicy, { time }: BackupEntry): Manifest {
  const { name, namespace } = policy.metadata;
  const moment = time.replaceAll(/[-:.]/g, '').toLowerCase();
  return {
    apiVersion: apiVersionOf(tenantBackup),
    kind: tenantBackup.kind,
    metadata: { name: `${name.slice(0, longestPrefix)}-${moment}`, namespace },
    spec: { policyName: name, source: sourceOf(policy), time },
  };
}

/** The TenantBackups that stand for backups of this policy, or of a former one of its name. */
export function backupsOf(policy: BackupPolicy, backups: readonly TenantBackup[]): readonly TenantBackup[] {
  const { name, namespace } = policy.metadata;
  const tenant = policy.spec.tenantControlPlaneName;
  return backups.filter(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      spec.policyName === name &&
      spec.time !== undefined &&
      spec.source?.tenantControlPlaneName === tenant,
  );
}

/** What is to be created, and what is to be deleted because the backup is not kept anymore. */
export interface BackupsChange {
  readonly missing: readonly BackupEntry[];
  readonly extra: readonly TenantBackup[];
}

/** Brings the TenantBackups of a policy to what its process has reported. Before the first report nothing is known. */
export function backupsChange(policy: BackupPolicy, backups: readonly TenantBackup[]): BackupsChange {
  const kept = policy.status?.process?.backups;
  if (kept === undefined) return { missing: [], extra: [] };
  const present = backupsOf(policy, backups);
  const times = new Set(present.map(({ spec }) => spec.time));
  const wanted = new Set(kept.map(({ time }) => time));
  return {
    missing: kept.filter(({ time }) => !times.has(time)),
    extra: present.filter(
      ({ metadata, spec }) => metadata.deletionTimestamp === undefined && !wanted.has(spec.time ?? ''),
    ),
  };
}

import { kinds } from '../../api/core/kinds.ts';
import type { Job } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { backupComponents, labels } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';
import { processOwner } from '../../stores/backup/process/process-owner.ts';
import type { Dependencies } from './dependencies.ts';

/** What else concerns a TenantBackup. */
export function backupWatches({ backups, processes }: Pick<Dependencies, 'backups' | 'processes'>): readonly Watch[] {
  const backupsThat = (holds: (backup: TenantBackup) => boolean): readonly Key[] =>
    backups()
      .filter(holds)
      .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  return [
    // Its report says up to when the changes of each backup are saved; a new one lets backups begin that wait for it.
    {
      kind: backupPolicy,
      optional: true,
      keys(old, now) {
        const policy = now ?? old;
        const changed = changedTimes(old, now);
        return backupsThat(
          ({ metadata, spec, status }) =>
            metadata.namespace === policy?.metadata.namespace &&
            spec.policyName === policy.metadata.name &&
            (spec.time === undefined ? old === undefined && status?.source === undefined : changed.has(spec.time)),
        );
      },
    } satisfies Watch<BackupPolicy>,
    {
      kind: tenantControlPlane,
      keys: (old, now) =>
        old === undefined && now !== undefined
          ? backupsThat(
              ({ metadata, status }) => metadata.namespace === now.metadata.namespace && status?.phase === 'Pending',
            )
          : [],
    } satisfies Watch<TenantControlPlane>,
    {
      kind: kinds.Job,
      namespace: processes.namespace,
      labelSelector: `${labels.component} in (${backupComponents.backup},${backupComponents.removal})`,
      keys: (old, now) => processOwner(now ?? old),
    } satisfies Watch<Job>,
  ] as readonly Watch[];
}

/** The moments of the backups about which the report of a policy has changed. */
function changedTimes(old: BackupPolicy | undefined, now: BackupPolicy | undefined): ReadonlySet<string> {
  const said = (policy: BackupPolicy | undefined): ReadonlyMap<string, string> => {
    const { backups = [], changesUntil } = policy?.status?.process ?? {};
    return new Map(
      backups.map((entry, at) => [entry.time, JSON.stringify([entry, at === backups.length - 1 && changesUntil])]),
    );
  };
  const [before, after] = [said(old), said(now)];
  return new Set([...before.keys(), ...after.keys()].filter((time) => before.get(time) !== after.get(time)));
}

import { kinds } from '../../api/core/kinds.ts';
import type { Job } from '../../api/core/kinds.ts';
import type { Key, NamespacedResource } from '../../api/meta.ts';
import { annotations, backupComponents, labels } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';
import { processOwner } from '../../stores/backup/process/process-owner.ts';
import type { Dependencies } from './dependencies.ts';
import { isFinished } from './status.ts';

/** What else concerns a TenantRestore. */
export function restoreWatches({
  restores,
  processes,
}: Pick<Dependencies, 'restores' | 'processes'>): readonly Watch[] {
  /** Those in the namespace of an object that have not ended. */
  const waiting = (object: NamespacedResource | undefined, holds: (one: TenantRestore) => boolean): readonly Key[] =>
    restores()
      .filter((one) => one.metadata.namespace === object?.metadata.namespace && !isFinished(one) && holds(one))
      .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  return [
    {
      kind: tenantControlPlane,
      keys: (old, now) =>
        traits(old) === traits(now)
          ? []
          : waiting(now ?? old, ({ spec }) => spec.tenantControlPlaneName === (now ?? old)?.metadata.name),
    } satisfies Watch<TenantControlPlane>,
    {
      kind: backupPolicy,
      optional: true,
      keys: (old, now) =>
        old === undefined ? waiting(now, ({ spec }) => spec.source.policyName === now?.metadata.name) : [],
    } satisfies Watch<BackupPolicy>,
    {
      kind: tenantBackup,
      optional: true,
      keys: (old, now) =>
        old?.status?.phase === now?.status?.phase
          ? []
          : waiting(now, ({ spec }) => spec.source.backupName === now?.metadata.name),
    } satisfies Watch<TenantBackup>,
    // Two for one control plane come one after the other.
    {
      kind: tenantRestore,
      optional: true,
      keys: (old, now) =>
        old?.status?.phase === now?.status?.phase
          ? []
          : waiting(
              now ?? old,
              ({ spec }) => spec.tenantControlPlaneName === (now ?? old)?.spec.tenantControlPlaneName,
            ),
    } satisfies Watch<TenantRestore>,
    {
      kind: kinds.Job,
      namespace: processes.namespace,
      labelSelector: `${labels.component}=${backupComponents.restore}`,
      keys: (old, now) => processOwner(now ?? old),
    } satisfies Watch<Job>,
  ] as readonly Watch[];
}

/** What of a control plane decides whether a restore may begin. */
function traits(tcp: TenantControlPlane | undefined): string {
  if (tcp === undefined) return '';
  const { metadata, spec, status } = tcp;
  const store = status?.conditions?.find(({ type }) => type === 'StoreReady');
  return JSON.stringify([
    ...[metadata.uid, metadata.deletionTimestamp, spec.controlPlane.deployment.replicas === 0],
    ...[metadata.annotations?.[annotations.awaitsRestore], store?.status, store?.message],
  ]);
}

import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../../api/core/kinds.ts';
import type { Key, NamespacedResource } from '../../api/meta.ts';
import { backupComponents, labels } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { awaitedRestore } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { isUnderWay, shareInUse } from '../../api/steward/v1alpha1/share-in-use.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';
import { processOwner } from '../../stores/backup/process/process-owner.ts';
import type { Dependencies } from './dependencies.ts';

type Deps = Pick<Dependencies, 'policies'> & { readonly processes: Pick<Dependencies['processes'], 'namespace'> };

/** What else concerns a BackupPolicy. */
export function policyWatches(deps: Deps): readonly Watch[] {
  const { namespace } = deps.processes;
  const policiesOf = (tenant: Required<Key>): readonly Key[] =>
    deps
      .policies()
      .filter(
        ({ metadata, spec }) => metadata.namespace === tenant.namespace && spec.tenantControlPlaneName === tenant.name,
      )
      .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  return [
    {
      kind: tenantControlPlane,
      keys: (old, now) => (traits(old) === traits(now) ? [] : policiesOf(keyOf(now ?? old))),
    } satisfies Watch<TenantControlPlane>,
    // A process has reported, which reconciles nothing by itself: it is a change of the status alone. Of a policy that is gone, the next
    // older one takes over.
    {
      kind: backupPolicy,
      optional: true,
      keys(old, now) {
        if (old === undefined) return [];
        if (now !== undefined) return isDeepStrictEqual(old.status?.process, now.status?.process) ? [] : [keyOf(now)];
        return policiesOf({ namespace: old.metadata.namespace, name: old.spec.tenantControlPlaneName });
      },
    } satisfies Watch<BackupPolicy>,
    {
      kind: tenantRestore,
      optional: true,
      keys(old, now) {
        if (old?.status?.phase === now?.status?.phase) return [];
        const restore = now ?? old;
        const namespace = restore?.metadata.namespace ?? '';
        const owner = restore?.metadata.ownerReferences?.find(({ kind }) => kind === backupPolicy.kind);
        const rehearsed = owner === undefined ? [] : [{ namespace, name: owner.name }];
        return [...rehearsed, ...policiesOf({ namespace, name: restore?.spec.tenantControlPlaneName ?? '' })];
      },
    } satisfies Watch<TenantRestore>,
    // One that a user deletes is created again.
    {
      kind: tenantBackup,
      optional: true,
      keys(old, now) {
        const { policyName, time } = old?.spec ?? {};
        if (now !== undefined || policyName === undefined || time === undefined) return [];
        return [{ namespace: old?.metadata.namespace ?? '', name: policyName }];
      },
    } satisfies Watch<TenantBackup>,
    ...[kinds.Deployment, kinds.Job].map((kind): Watch<NamespacedResource> => {
      const components = `${backupComponents.backup},${backupComponents.removal}`;
      const labelSelector = `${labels.component} in (${components})`;
      return { kind, namespace, labelSelector, keys: (old, now) => processOwner(now ?? old) };
    }),
  ] as readonly Watch[];
}

/** What of a control plane decides whether it can be backed up. */
function traits(tcp: TenantControlPlane | undefined): string {
  if (tcp === undefined) return '';
  const { metadata, status } = tcp;
  const { storage } = status ?? {};
  const schema = shareInUse(storage)?.schema ?? storage?.setup?.schema;
  const restore = awaitedRestore(tcp);
  return JSON.stringify([metadata.uid, metadata.deletionTimestamp, schema, isUnderWay(storage?.migration), restore]);
}

function keyOf(object: NamespacedResource | undefined): Required<Key> {
  return { namespace: object?.metadata.namespace ?? '', name: object?.metadata.name ?? '' };
}

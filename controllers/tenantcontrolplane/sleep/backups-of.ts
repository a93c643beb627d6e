import type { Key, NamespacedResource } from '../../../api/meta.ts';
import { tenantBackup } from '../../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import type { Watch } from '../../../runtime/reconcile/controller.ts';

const backups = { kind: tenantBackup, optional: true } as const;
const restores = { kind: tenantRestore, optional: true } as const;

/** The TenantControlPlane that a backup has recorded. */
const backedUp = ({ metadata, status }: TenantBackup): Key => ({
  namespace: metadata.namespace,
  name: status?.source?.tenantControlPlaneName ?? '',
});

const restored = ({ metadata, spec }: TenantRestore): Key => ({
  namespace: metadata.namespace,
  name: spec.tenantControlPlaneName,
});

type Phased = NamespacedResource & { readonly status?: { readonly phase?: string } };

/** Only the beginning and the end of a process concern its TenantControlPlane. */
const keysOf =
  <T extends Phased>(tenantOf: (object: T) => Key): Watch<T>['keys'] =>
  (old, now) => {
    const [before, after] = [old?.status?.phase === 'Running', now?.status?.phase === 'Running'];
    const object = now ?? old;
    return before === after || object === undefined ? [] : [tenantOf(object)];
  };

/** The backups and restores of TenantControlPlanes. */
export const backupWatches = [
  { ...backups, keys: keysOf(backedUp) } satisfies Watch<TenantBackup>,
  { ...restores, keys: keysOf(restored) } satisfies Watch<TenantRestore>,
] as readonly Watch[];

/** What a backup or restore of the TenantControlPlane does at the moment; undefined when none is at work. */
export function backupUnderWay(
  informers: Pick<InformerFactory, 'informer'>,
  { namespace, name }: Required<Key>,
): string | undefined {
  const isAtWork =
    <T extends Phased>(tenantOf: (object: T) => Key) =>
    (object: T): boolean => {
      const tenant = tenantOf(object);
      return object.status?.phase === 'Running' && tenant.namespace === namespace && tenant.name === name;
    };
  const restore = informers.informer(restores).list().find(isAtWork(restored));
  if (restore !== undefined) return `TenantRestore ${restore.metadata.name} restores it`;
  const backup = informers.informer(backups).list().find(isAtWork(backedUp));
  return backup === undefined ? undefined : `TenantBackup ${backup.metadata.name} backs it up`;
}

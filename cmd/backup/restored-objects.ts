import { clusterSecretType } from '../../api/cluster-api/names.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { BackedUpObject } from '../../stores/backup/backup-record.ts';
import { backedUpSecrets, encryptionKeys, secretManifest, tenantManifest } from './backed-up-objects.ts';
import { BackupRefusal } from './backup-refusal.ts';

/** What a backup says about the management cluster. */
export interface RestoredObjects {
  /** Absent if another object made it. */
  readonly own: Manifest | undefined;
  readonly secrets: readonly Manifest[];
}

const secretTypes: readonly unknown[] = [undefined, 'Opaque', clusterSecretType];

/**
 * The objects of a backup of the control plane `name`. Whoever can write the storage and has the key can write any object there, and it is
 * created with more rights than theirs: so only what a backup contains is taken of it, and everything else is refused (`BackupRefusal`).
 */
export function restoredObjects(objects: readonly BackedUpObject[], name: string): RestoredObjects {
  const manifests = objects as unknown as readonly (Secret | TenantControlPlane)[];
  const own = manifests.filter((one): one is TenantControlPlane => one.kind === tenantControlPlane.kind);
  const secrets = manifests.filter((one): one is Secret => one.kind === 'Secret');
  const original = own[0]?.metadata.name ?? name;
  const names: readonly string[] = [...backedUpSecrets(original), encryptionKeys(original)];
  const foreign = manifests.find((one) => {
    if (one.kind === 'Secret') return !names.includes(one.metadata.name) || !secretTypes.includes((one as Secret).type);
    return one.kind !== tenantControlPlane.kind || one !== own[0];
  });
  if (foreign !== undefined) {
    throw new BackupRefusal(
      `the backup contains ${foreign.kind} ${foreign.metadata.name}, which no backup of ${original} has: Steward did not write it`,
    );
  }
  const [tcp] = own;
  // The same choice of metadata as when a backup is taken.
  return { own: tcp && tenantManifest(tcp), secrets: secrets.map(secretManifest) };
}

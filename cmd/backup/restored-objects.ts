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
  /** Name of the control plane that was backed up. */
  readonly original: string;
  /** Absent if another object made it. */
  readonly own: Manifest | undefined;
  readonly secrets: readonly Manifest[];
}

const secretTypes: readonly unknown[] = [undefined, 'Opaque', clusterSecretType];

/**
 * The objects of a backup of the control plane `name`, whatever the name of the one that gets them. Whoever can write the storage and has the key can write any object there, and it is
 * created with more rights than theirs: so only what a backup contains is taken of it, and everything else is refused (`BackupRefusal`).
 */
export function restoredObjects(objects: readonly BackedUpObject[], name: string): RestoredObjects {
  const own = objects.filter(isTenant);
  const secrets = objects.filter(isSecret);
  const original = own[0]?.metadata.name ?? name;
  const names: readonly string[] = [...backedUpSecrets(original), encryptionKeys(original)];
  const foreign = objects.find((one) =>
    isSecret(one) ? !names.includes(one.metadata.name) || !secretTypes.includes(one.type) : one !== own[0],
  );
  if (foreign !== undefined) {
    throw new BackupRefusal(
      `the backup contains ${String(foreign.kind)} ${nameOf(foreign)}, which no backup of ${original} has: Steward did not write it`,
    );
  }
  const [tcp] = own;
  // The same choice of metadata as when a backup is taken.
  return { original, own: tcp && tenantManifest(tcp), secrets: secrets.map(secretManifest) };
}

/** What a backup contains is what its author wrote: no more is known of it. */
const nameOf = ({ metadata }: BackedUpObject): string => {
  const isNamed = typeof metadata === 'object' && metadata !== null && 'name' in metadata;
  return isNamed && typeof metadata.name === 'string' ? metadata.name : '';
};

const isTenant = (one: BackedUpObject): one is BackedUpObject & TenantControlPlane =>
  one.kind === tenantControlPlane.kind && nameOf(one) !== '';

const isSecret = (one: BackedUpObject): one is BackedUpObject & Secret => one.kind === 'Secret' && nameOf(one) !== '';

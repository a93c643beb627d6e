import type { Infer } from '../../../schema.ts';
import { described, obj, opt, str } from '../../../schema.ts';

/** The name of an object, which is a part of folders and of command lines. */
export const objectName = (): ReturnType<typeof str> =>
  str({ pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$', maxLength: 253 });

/** The name of a TenantControlPlane: a label of the process that works on it. */
export const tenantName = (): ReturnType<typeof str> =>
  str({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 });

/** Where backups are written. One field for each kind of place; exactly one is set. */
export const backupStorage = obj(
  {
    persistentVolumeClaim: opt(
      described(
        obj({
          claimName: described(
            objectName(),
            'Name of a PersistentVolumeClaim in the namespace of the manager. The operator has to allow it with `--backup-claims`.',
          ),
        }),
        'A volume. The folder on the volume is derived from the namespace and the name of the control plane.',
      ),
    ),
    bucket: opt(
      described(
        obj({
          secretName: described(
            objectName(),
            'Name of a Secret in the namespace of the manager, with the address of the bucket and, unless a role is used, an access key. The operator has to allow it with `--backup-buckets`.',
          ),
        }),
        'A bucket of an S3 server. The folder in the bucket is derived from the namespace and the name of the control plane.',
      ),
    ),
  },
  {
    rule: 'has(self.persistentVolumeClaim) != has(self.bucket)',
    message: 'set persistentVolumeClaim or bucket, but not both',
  },
);
export type BackupStorage = Infer<typeof backupStorage>;

/** With which key backups are encrypted. */
export const backupEncryption = obj({
  keySecret: described(
    obj({
      name: described(objectName(), 'Name of the Secret, in the namespace of this object.'),
      key: opt(
        described(
          str({ pattern: '^[-._a-zA-Z0-9]+$', maxLength: 253 }),
          'The key in `data`: its value is the base64 of 32 random bytes, as `openssl rand -base64 32` prints it.',
        ),
        'key',
      ),
    }),
    'The Secret with the key. Keep a copy of the key outside the cluster: without the key, nothing can be restored.',
  ),
});

/** The fields of {@link backupSource}. */
export const backupSourceFields = {
  tenantControlPlaneName: described(
    tenantName(),
    'Name of the TenantControlPlane, in the namespace of this object. For a restore, it may have been deleted.',
  ),
  encryption: described(backupEncryption, 'How the backups are encrypted.'),
  storage: described(backupStorage, 'Where the backups are.'),
} as const;

/** All that is needed to find and open the backups of a control plane. */
export const backupSource = obj(backupSourceFields);
export type BackupSource = Infer<typeof backupSource>;

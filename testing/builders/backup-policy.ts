import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { storedMeta } from '../../api/as-stored.ts';

/** What a test says about a BackupPolicy. */
export interface BackupPolicyChanges {
  readonly metadata?: Partial<BackupPolicy['metadata']>;
  readonly spec?: Partial<BackupPolicy['spec']>;
  readonly status?: BackupPolicy['status'];
}

/** A BackupPolicy of the control plane `shop` with every default in place; its name is also its UID. */
export function backupPolicyWith(name: string, { metadata, spec, status }: BackupPolicyChanges = {}): BackupPolicy {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'BackupPolicy',
    metadata: { ...storedMeta({ namespace: 'tenants', name, uid: name }), ...metadata },
    spec: {
      tenantControlPlaneName: 'shop',
      interval: '1h',
      suspend: false,
      retention: { keepLast: 24 },
      encryption: { keySecret: { name: 'backup-key', key: 'key' } },
      storage: { persistentVolumeClaim: { claimName: 'backups' } },
      deletionPolicy: 'Retain',
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}

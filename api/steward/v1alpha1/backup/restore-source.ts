import type { CelRule, Infer } from '../../../schema.ts';
import { described, obj, opt, time } from '../../../schema.ts';
import { backupSource, objectName } from './backup-place.ts';

/** Which backup is restored: the fields of `TenantRestore.spec.source`, and of what else names a backup. */
export const restoreSourceFields = {
  backupName: opt(
    described(objectName(), 'Name of a TenantBackup in the same namespace. Exactly this backup is restored.'),
  ),
  policyName: opt(
    described(
      objectName(),
      'Name of a BackupPolicy in the same namespace. What the policy has saved is restored, up to `toTime`.',
    ),
  ),
  repository: opt(
    described(
      backupSource,
      'The backups themselves, if there is no TenantBackup or BackupPolicy, for example after the loss of the management cluster.',
    ),
  ),
} as const;

/** The rule for these fields. */
export const oneRestoreSource: CelRule = {
  rule: '[has(self.backupName), has(self.policyName), has(self.repository)].filter(one, one).size() == 1',
  message: 'set exactly one of backupName, policyName and repository',
};

/** The moment that is restored. */
export const restoredMoment = described(
  time(),
  'The moment that is restored, such as `2026-01-31T12:00:00Z`. Defaults to the last known moment.',
);

/** The rule for that moment; `path` leads to the fields of the source. */
export const momentOfSource = (path: '' | 'source.'): CelRule => ({
  rule: `!has(self.toTime) || !has(self.${path}backupName)`,
  message: `toTime is not supported with ${path}backupName: leave it out, or use ${path}policyName or ${path}repository`,
  fieldPath: '.toTime',
});

/** The backup that a control plane starts from. */
export const restoreFrom = obj(
  { ...restoreSourceFields, toTime: opt(restoredMoment) },
  oneRestoreSource,
  momentOfSource(''),
);
export type RestoreFrom = Infer<typeof restoreFrom>;

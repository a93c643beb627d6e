import type { CelRule, Infer } from '../../../schema.ts';
import { described, obj, opt, str, time } from '../../../schema.ts';
import { backupSourceFields, objectName } from './backup-place.ts';

/** A UID, which becomes a part of a folder. */
const uid = (): ReturnType<typeof str> =>
  str({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', maxLength: 36 });

const repository = obj({
  ...backupSourceFields,
  backupUID: opt(
    described(
      uid(),
      'UID of a TenantBackup that took one backup, which need not exist here: exactly this backup is restored, from its folder `once/<UID>`. Without this field, what policies have saved is restored.',
    ),
  ),
});

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
      repository,
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

/** The same rule for a backup that its UID names. */
export const momentOfRepository = (path: '' | 'source.'): CelRule => ({
  rule: `!has(self.toTime) || !has(self.${path}repository) || !has(self.${path}repository.backupUID)`,
  message: `toTime is not supported with ${path}repository.backupUID: leave one of them out`,
  fieldPath: '.toTime',
});

/** The backup that a control plane starts from. */
export const restoreFrom = obj(
  { ...restoreSourceFields, toTime: opt(restoredMoment) },
  oneRestoreSource,
  momentOfSource(''),
  momentOfRepository(''),
);
export type RestoreFrom = Infer<typeof restoreFrom>;

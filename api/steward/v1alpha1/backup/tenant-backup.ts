import { conditionList } from '../../../embedded/condition-list.ts';
import { stewardGroup } from '../../../names.ts';
import type { Infer, NamespacedKind, ObjectOf } from '../../../schema.ts';
import { described, int64, obj, oneOf, opt, ruled, str, time } from '../../../schema.ts';
import { backupSource, objectName } from './backup-place.ts';

const tenantBackupSpec = ruled(
  obj(
    {
      policyName: opt(
        described(
          objectName(),
          'Name of a BackupPolicy in the same namespace, whose control plane, key and storage are used.',
        ),
      ),
      source: opt(described(backupSource, 'Control plane, key and storage, instead of those of a policy.')),
      time: opt(
        described(
          time(),
          'Set by Steward on the TenantBackups that it creates for the backups of a policy: the moment of the backup. Without this field, one backup is taken, which is independent of those of policies.',
        ),
      ),
      deletionPolicy: opt(
        described(
          oneOf('Retain', 'Delete'),
          'Whether the deletion of this object leaves the backup where it is, or removes it. The backups of a policy follow its retention.',
        ),
        'Retain',
      ),
    },
    {
      rule: 'has(self.policyName) || has(self.source)',
      message: 'set either policyName or source, which say what is backed up and where to',
    },
    {
      rule: '!has(self.time) || has(self.policyName) && has(self.source)',
      message: 'time is set by Steward, for the backups of a policy',
      fieldPath: '.time',
    },
  ),
  {
    rule: "(has(self.policyName) ? self.policyName : '') == (has(oldSelf.policyName) ? oldSelf.policyName : '') && has(self.source) == has(oldSelf.source) && (!has(self.source) || self.source == oldSelf.source) && has(self.time) == has(oldSelf.time) && (!has(self.time) || self.time == oldSelf.time)",
    message: 'only the deletionPolicy of a backup can be changed: create another one',
  },
);
export type TenantBackupSpec = Infer<typeof tenantBackupSpec>;

const tenantBackupStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  phase: opt(
    described(
      oneOf('Pending', 'Running', 'Completed', 'Failed'),
      'What the conditions say in one word. `Completed` and `Failed` are final.',
    ),
  ),
  source: opt(described(backupSource, 'What is backed up, and where to. Recorded, because the policy may be deleted.')),
  startTime: opt(described(time(), 'When the process was started.')),
  completionTime: opt(described(time(), 'When the backup was complete.')),
  time: opt(described(time(), 'The moment of the backup: everything that was written before is contained.')),
  revision: opt(described(str(), 'Revision of the data in its datastore.')),
  keys: opt(described(int64(), 'Number of keys.')),
  bytes: opt(described(int64(), 'Size of the values, in bytes, before compression.')),
  changesUntil: opt(
    described(
      time(),
      'Every moment from the backup up to this one can be restored. Absent if only the backup itself can.',
    ),
  ),
  process: opt(
    described(
      obj({
        time: opt(described(time(), 'The moment of the backup.')),
        revision: opt(described(str(), 'Revision of the data.')),
        keys: opt(described(int64(), 'Number of keys.')),
        bytes: opt(described(int64(), 'Size of the values, in bytes.')),
        problem: opt(described(str(), 'Why the process last ended.')),
      }),
      'What the process that takes the backup reports. The process writes this field itself.',
    ),
  ),
});
export type TenantBackupStatus = Infer<typeof tenantBackupStatus>;

/** One backup of a TenantControlPlane. */
export const tenantBackup: NamespacedKind<TenantBackupSpec, TenantBackupStatus> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'TenantBackup',
  plural: 'tenantbackups',
  namespaced: true,
  singular: 'tenantbackup',
  listKind: 'TenantBackupList',
  shortNames: ['tb'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description:
    'One backup of a TenantControlPlane: one that a BackupPolicy has taken, or one that is taken because this object was created.',
  spec: tenantBackupSpec,
  status: tenantBackupStatus,
  columns: [
    { name: 'Control Plane', type: 'string', jsonPath: '.status.source.tenantControlPlaneName' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Time', type: 'string', jsonPath: '.status.time' },
    { name: 'Changes Until', type: 'string', jsonPath: '.status.changesUntil' },
    { name: 'Keys', type: 'integer', jsonPath: '.status.keys' },
    { name: 'Bytes', type: 'integer', jsonPath: '.status.bytes' },
    { name: 'Policy', type: 'string', jsonPath: '.spec.policyName', priority: 1 },
    { name: 'Revision', type: 'string', jsonPath: '.status.revision', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type TenantBackup = ObjectOf<typeof tenantBackup>;

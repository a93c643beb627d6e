import { conditionList } from '../../../embedded/condition-list.ts';
import { stewardGroup } from '../../../names.ts';
import type { Infer, Input, NamespacedKind, ObjectOf } from '../../../schema.ts';
import { bool, described, int32, int64, list, obj, oneOf, opt, ruled, str, time } from '../../../schema.ts';
import { backupEncryption, backupStorage, tenantName } from './backup-place.ts';

/** So many backups are kept at most, as each has a TenantBackup and a line in the status. */
export const mostKept = 168;

/** What the kinds say about one backup. */
const backupEntry = obj({
  time: described(time(), 'The moment of the backup: everything that was written before is contained.'),
  revision: described(str(), 'Revision of the data in its datastore.'),
  keys: described(int64(), 'Number of keys.'),
  bytes: described(int64(), 'Size of the values, in bytes, before compression.'),
  changesUntil: opt(
    described(
      time(),
      'Every moment from the backup up to this one can be restored. Absent if only the backup itself can.',
    ),
  ),
});
export type BackupEntry = Infer<typeof backupEntry>;

/** When something is repeated: by a cron expression, or after an interval of at least `shortest`. */
const repetition = (texts: { readonly schedule: string; readonly interval: string }, shortest: string) => ({
  schedule: opt(described(str({ minLength: 1, maxLength: 100 }), texts.schedule)),
  timeZone: opt(
    described(
      str({ pattern: '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$', maxLength: 64 }),
      'Time zone of `schedule`, such as `Europe/Berlin`. Defaults to UTC.',
    ),
  ),
  interval: opt(
    described(
      ruled(str({ pattern: '^([0-9]+(h|m|s))+$', maxLength: 20 }), {
        rule: `duration(self) >= duration('${shortest}')`,
        message: `interval must be at least ${shortest}`,
      }),
      texts.interval,
    ),
  ),
});

const repetitionRules = [
  { rule: 'has(self.schedule) != has(self.interval)', message: 'set schedule or interval, but not both' },
  {
    rule: '!has(self.timeZone) || has(self.schedule)',
    message: 'timeZone is supported only with schedule',
    fieldPath: '.timeZone',
  },
] as const;

const rehearsalSpec = obj(
  {
    ...repetition(
      {
        schedule: 'When rehearsals take place, as a cron expression with five fields, such as `0 4 * * 0`.',
        interval: 'Time between two rehearsals, such as `24h`, instead of `schedule`.',
      },
      '10m',
    ),
    dataStoreName: opt(
      described(
        str({ minLength: 1, maxLength: 253 }),
        'DataStore of the rehearsal. Defaults to that of the control plane.',
      ),
    ),
  },
  ...repetitionRules,
);

const backupPolicySpec = obj(
  {
    tenantControlPlaneName: described(
      ruled(tenantName(), { rule: 'self == oldSelf', message: 'tenantControlPlaneName cannot be changed' }),
      'Name of the TenantControlPlane, in the namespace of the policy. If several policies name the same one, only the oldest takes effect.',
    ),
    ...repetition(
      {
        schedule:
          'When backups are taken, as a cron expression with five fields, such as `0 * * * *`. All changes in between are saved, too.',
        interval: 'Time between two backups, such as `1h`, instead of `schedule`.',
      },
      '1m',
    ),
    suspend: opt(
      described(
        bool(),
        'Whether backups are suspended. No changes are saved until it is false again; then a new backup is taken.',
      ),
      false,
    ),
    retention: opt(
      described(
        obj({
          keepLast: opt(
            described(
              int32({ minimum: 1, maximum: mostKept }),
              'Number of backups to keep. Older ones, and the changes before the oldest kept one, are removed.',
            ),
            24,
          ),
        }),
        'How many backups are kept.',
      ),
      {},
    ),
    encryption: described(
      ruled(backupEncryption, { rule: 'self == oldSelf', message: 'the key of a policy cannot be changed' }),
      'How the backups are encrypted.',
    ),
    storage: described(
      ruled(backupStorage, { rule: 'self == oldSelf', message: 'the storage of a policy cannot be changed' }),
      'Where the backups are written.',
    ),
    rehearsal: opt(
      described(
        rehearsalSpec,
        'When backups are rehearsed, that is, restored into a TenantControlPlane without pods, which is deleted afterwards. The condition Rehearsed shows the result.',
      ),
    ),
    deletionPolicy: opt(
      described(
        oneOf('Retain', 'Delete'),
        'Whether the deletion of the policy leaves the backups where they are, or removes them.',
      ),
      'Retain',
    ),
  },
  ...repetitionRules,
);
export type BackupPolicySpec = Infer<typeof backupPolicySpec>;
export type BackupPolicySpecInput = Input<typeof backupPolicySpec>;

const backupPolicyStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  lastBackupTime: opt(described(time(), 'The moment of the newest backup.')),
  backups: opt(described(int32(), 'Number of backups that are kept.')),
  recoverableFrom: opt(described(time(), 'The earliest moment that can be restored.')),
  recoverableUntil: opt(
    described(time(), 'The latest moment that can be restored. This field is written once a minute.'),
  ),
  rehearsal: opt(
    described(
      obj({
        time: described(time(), 'Time at which the rehearsal ended.'),
        restore: described(str(), 'UID of the TenantRestore of the rehearsal.'),
        restoredTime: opt(described(time(), 'The moment of the last change that was restored.')),
        keys: opt(described(int64(), 'Number of keys that were restored and compared.')),
        bytes: opt(described(int64(), 'Size of the values, in bytes.')),
        seconds: opt(described(int64(), 'How long the rehearsal took, in seconds.')),
      }),
      'The last rehearsal.',
    ),
  ),
  process: opt(
    described(
      obj({
        backups: opt(described(list(backupEntry, { maxItems: mostKept }), 'The backups that are kept, oldest first.')),
        changesUntil: opt(described(time(), 'Moment up to which all changes are saved.')),
        problem: opt(described(str(), 'Why the process last ended. Absent while it works.')),
      }),
      'What the process that takes the backups reports. The process writes this field itself.',
    ),
  ),
});
export type BackupPolicyStatus = Infer<typeof backupPolicyStatus>;

/** Backs up one TenantControlPlane all the time. */
export const backupPolicy: NamespacedKind<BackupPolicySpec, BackupPolicyStatus, BackupPolicySpecInput> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'BackupPolicy',
  plural: 'backuppolicies',
  namespaced: true,
  singular: 'backuppolicy',
  listKind: 'BackupPolicyList',
  shortNames: ['bp'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description: 'Backs up one TenantControlPlane all the time: on a schedule, and with all changes in between.',
  spec: backupPolicySpec,
  status: backupPolicyStatus,
  columns: [
    { name: 'Control Plane', type: 'string', jsonPath: '.spec.tenantControlPlaneName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Suspend', type: 'boolean', jsonPath: '.spec.suspend' },
    { name: 'Last Backup', type: 'date', jsonPath: '.status.lastBackupTime' },
    { name: 'Backups', type: 'integer', jsonPath: '.status.backups' },
    { name: 'Rehearsed', type: 'string', jsonPath: '.status.conditions[?(@.type=="Rehearsed")].status' },
    { name: 'From', type: 'string', jsonPath: '.status.recoverableFrom', priority: 1 },
    { name: 'Until', type: 'string', jsonPath: '.status.recoverableUntil', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type BackupPolicy = ObjectOf<typeof backupPolicy>;

import type { ConditionRow } from '../../../condition-row.ts';
import { definitionOutdatedRow } from '../../../definition-outdated-row.ts';

/** Why no process is started, for all three kinds. */
const notStarted = {
  StorageNotAllowed: 'The operator does not allow this storage for backups. The message lists what is allowed.',
  TenantControlPlaneNotFound: 'The TenantControlPlane does not exist.',
} as const;

/** Conditions of a BackupPolicy. */
export const backupPolicyConditions = {
  Ready: {
    meaning: 'Backups are taken as scheduled, and all changes in between are saved.',
    polarity: 'positive',
    reasons: {
      ...notStarted,
      BackingUp:
        'Backups are being taken. status.recoverableFrom and status.recoverableUntil say which period can be restored.',
      Starting:
        'The process has not taken its first backup yet. If something keeps it from running, the message says what.',
      Suspended: 'The spec suspends the policy. The backups so far can be restored.',
      WaitingForData: 'The TenantControlPlane has no data yet, or it is being migrated.',
      Restoring: 'A TenantRestore is restoring the control plane. A new backup is taken afterwards.',
      RestoreFailed:
        'A TenantRestore failed after it had begun to write: the data may be incomplete and is not backed up. The message names it.',
      AnotherPolicy: 'Another BackupPolicy, which is older, backs up the control plane. The message names it.',
      ProcessFailed: 'The process ended with an error, and is started again. The message contains the error.',
      BackupOverdue: 'A backup is overdue. If something keeps the process from running, the message says what.',
    },
  },
  Rehearsed: {
    meaning: 'The last rehearsal restored the newest backup. Present only if the spec requests rehearsals.',
    polarity: 'positive',
    reasons: {
      Restored: 'Everything was restored and compared. The message says up to which moment, and how long it took.',
      NotRehearsed: 'No rehearsal has ended yet. The message says what it is waiting for.',
      RehearsalFailed: 'The restore failed. The message contains the error. The next rehearsal runs as scheduled.',
      NameTaken:
        'A TenantControlPlane or TenantRestore that does not belong to this policy has the name that its rehearsals use.',
    },
  },
  Deleting: {
    meaning: 'The policy is being deleted.',
    polarity: 'negative',
    reasons: {
      StoppingProcess: 'The process has to end first.',
      RemovingBackups:
        'The backups are being removed, as the deletionPolicy says. If something blocks it, the message says what.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a TenantBackup. */
export const tenantBackupConditions = {
  Complete: {
    meaning: 'The backup is complete and can be restored.',
    polarity: 'positive',
    reasons: {
      ...notStarted,
      Completed: 'The backup is complete.',
      PolicyNotFound: 'The BackupPolicy in the spec does not exist.',
      Running: 'The backup is being taken. If something blocks it, the message says what.',
      Failed: 'The backup has failed for good. The condition Failed says why.',
    },
  },
  Failed: {
    meaning: 'The backup has failed for good.',
    polarity: 'negative',
    reasons: {
      BackupFailed: 'The process failed several times. The message contains the last error.',
      NotFailed: 'The backup has not failed.',
    },
  },
  Deleting: {
    meaning: 'The object is being deleted.',
    polarity: 'negative',
    reasons: {
      StoppingProcess: 'The process has to end first.',
      RemovingBackups:
        'The backup is being removed, as the deletionPolicy says. If something blocks it, the message says what.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a TenantRestore. */
export const tenantRestoreConditions = {
  Complete: {
    meaning: 'The control plane is restored, and its data was compared with the backup.',
    polarity: 'positive',
    reasons: {
      ...notStarted,
      Completed: 'The control plane is restored. The message says up to which moment.',
      BackupNotFound: 'The TenantBackup or the BackupPolicy in the spec does not exist, or the backup is not complete.',
      WaitingForSleep:
        'The control plane is in use. Either the spec does not allow putting it to sleep, or another object, such as a StewardControlPlane, sets its replicas. With type Move, the control plane that was backed up is in use.',
      WaitingForKey:
        'The Secret with the key of the backups does not exist, or does not have the key. The message names both.',
      WaitingForPods:
        'With type Move, pods of the control plane that was backed up still run: they may still write, with the same CAs and keys. The message names them.',
      WaitingForStore: 'With type Move, the DataStore of the new control plane has no room for its data yet.',
      NotAwaited:
        'With type Move, the control plane does not wait for this restore at the moment. Its StewardControlPlane makes it wait.',
      WaitingForProcesses:
        'Something else still works on the control plane: the process of a policy, another restore, or its deletion.',
      Running: 'The control plane is being restored. If something blocks it, the message says what.',
      Failed: 'The restore has failed for good. The condition Failed says why.',
    },
  },
  Failed: {
    meaning: 'The restore has failed for good. If its process had not started, nothing was changed.',
    polarity: 'negative',
    reasons: {
      RestoreFailed: 'The process failed several times. The message contains the last error.',
      TenantControlPlaneExists:
        'The spec requests a new TenantControlPlane, but one exists that does not wait for this restore. Its data is left as it is.',
      TenantControlPlaneNotFound:
        'The spec requests a restore of the TenantControlPlane in place, but it does not exist.',
      InvalidSpec: 'The spec requests something impossible. The message names the field.',
      NotFailed: 'The restore has not failed.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

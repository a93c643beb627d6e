import type {
  backupPolicyConditions,
  tenantBackupConditions,
  tenantRestoreConditions,
} from '../steward/v1alpha1/backup/condition-rows.ts';
import { definitionOutdatedRemedies } from './definition-outdated-remedies.ts';
import type { RemediesOf } from './remedies-of.ts';
import { healthy, passing, toDo } from './remedy.ts';

const podsOf = (component: string): string =>
  `kubectl -n steward-system get pods -l steward.butlerlabs.dev/component=${component},tcp.steward.butlerlabs.dev/namespace=<namespace>`;
const pods = podsOf('backup');
const restorePods = podsOf('restore');
const removalPods = podsOf('remove-backups');

const storageNotAllowed = toDo(
  'Name storage that the message lists, or ask the operator to add this one to --backup-claims or --backup-buckets of the manager (in the chart: backups.claims, backups.buckets).',
);
const deleting = {
  StoppingProcess: passing('Wait until the pod is gone.', pods),
  RemovingBackups: passing(
    'Wait until the backups are removed. If it does not end, do what the message says, or set deletionPolicy to Retain, which leaves them.',
    removalPods,
  ),
};

/** What to do about every reason of the conditions of a BackupPolicy. */
export const backupPolicyRemedies = {
  Ready: {
    BackingUp: healthy,
    Starting: passing('Wait for the first backup. If it does not come, do what the message says.', pods),
    Suspended: healthy,
    StorageNotAllowed: storageNotAllowed,
    TenantControlPlaneNotFound: toDo(
      'Create the TenantControlPlane that spec.tenantControlPlaneName names, or restore it with a TenantRestore.',
      'kubectl -n <namespace> get tcp',
    ),
    WaitingForData: passing('Wait until the control plane is ready, or its migration has ended.'),
    Restoring: passing('Wait until the TenantRestore has ended.', 'kubectl -n <namespace> get tenantrestores'),
    RestoreFailed: toDo(
      'Remove the cause that its condition Failed names, then create another TenantRestore under another name.',
      'kubectl -n <namespace> get tenantrestores',
    ),
    AnotherPolicy: toDo('Delete one of the two policies.', 'kubectl -n <namespace> get backuppolicies'),
    ProcessFailed: toDo('Do what the message says. The process is started again with back-off.', pods),
    BackupOverdue: toDo('Do what the message says. If it says nothing, look at the pod and its log.', pods),
  },
  Rehearsed: {
    Restored: healthy,
    NotRehearsed: passing(
      'Wait: the message says what it is waiting for.',
      'kubectl -n <namespace> get tenantrestores',
    ),
    RehearsalFailed: toDo(
      'Do what the message says. To rehearse at once, remove spec.rehearsal and add it again.',
      'kubectl -n <namespace> describe backuppolicy <name>',
    ),
    NameTaken: toDo('Rename or delete the object in the message, or give the policy another name.'),
  },
  Deleting: deleting,
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof backupPolicyConditions>;

/** What to do about every reason of the conditions of a TenantBackup. */
export const tenantBackupRemedies = {
  Complete: {
    Completed: healthy,
    StorageNotAllowed: storageNotAllowed,
    TenantControlPlaneNotFound: toDo('Create the TenantControlPlane, or name another one in another TenantBackup.'),
    PolicyNotFound: toDo('Create the BackupPolicy, or name another one in another TenantBackup.'),
    Running: passing('Wait until the backup is complete.', pods),
    Failed: toDo('Do what the condition Failed says.', 'kubectl -n <namespace> describe tenantbackup <name>'),
  },
  Failed: {
    BackupFailed: toDo('Remove the cause in the message, and create another TenantBackup.', pods),
    NotFailed: healthy,
  },
  Deleting: deleting,
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof tenantBackupConditions>;

const anotherRestore = toDo(
  'A TenantRestore cannot be changed: create another one, under another name, with the field corrected that the message names.',
);

/** What to do about every reason of the conditions of a TenantRestore. */
export const tenantRestoreRemedies = {
  Complete: {
    Completed: healthy,
    StorageNotAllowed: storageNotAllowed,
    TenantControlPlaneNotFound: toDo(
      'For a clone: create the TenantControlPlane with 0 replicas. A StewardControlPlane creates its own.',
      'kubectl -n <namespace> get tcp',
    ),
    BackupNotFound: toDo(
      'Name a TenantBackup that is complete, or a BackupPolicy that exists, in another TenantRestore. If both are lost, use source.repository.',
      'kubectl -n <namespace> get tenantbackups,backuppolicies',
    ),
    WaitingForSleep: toDo(
      'Put the control plane in the message to sleep with kubectl steward sleep, or create another TenantRestore with sleep: true. That command also works if a StewardControlPlane sets its replicas; if another object does, set 0 replicas there. In both cases sleep: true does not help.',
      'kubectl -n <namespace> get tcp',
    ),
    WaitingForKey: toDo(
      'Create the Secret that the message names, with the key that the backups were encrypted with: the restore goes on by itself. Another key opens no backup.',
      'kubectl -n <namespace> get secrets',
    ),
    WaitingForPods: passing(
      'Wait until the pods have ended. If one does not, look at its node: a node that is lost holds its pods until it is back or deleted.',
      'kubectl -n <namespace> get pods -o wide',
    ),
    WaitingForStore: toDo(
      'Look at the condition StoreReady of the TenantControlPlane, which says what its DataStore lacks.',
      'kubectl -n <namespace> get tcp -o yaml',
    ),
    NotAwaited: passing(
      'Wait, or look at the condition Restored of the StewardControlPlane, which says why it does not make the control plane wait.',
      'kubectl -n <namespace> get stewardcontrolplanes -o yaml',
    ),
    WaitingForProcesses: passing(
      'Wait until what the message names has ended.',
      "kubectl -n steward-system get pods -l 'steward.butlerlabs.dev/component in (backup,restore,remove-backups),tcp.steward.butlerlabs.dev/namespace=<namespace>'",
    ),
    Running: passing('Wait: status.process shows the progress.', 'kubectl -n <namespace> get tenantrestores'),
    Failed: toDo('Do what the condition Failed says.', 'kubectl -n <namespace> describe tenantrestore <name>'),
  },
  Failed: {
    RestoreFailed: toDo(
      'Remove the cause in the message, and create another TenantRestore: it goes on where this one ended. Until one succeeds, nothing can write to the data.',
      restorePods,
    ),
    TenantControlPlaneExists: toDo(
      'Delete the TenantControlPlane, or use type InPlace to return it to the backup. Then create another TenantRestore.',
      'kubectl -n <namespace> get tcp',
    ),
    TenantControlPlaneNotFound: toDo(
      'Use type Recreate for a control plane that was deleted, in another TenantRestore.',
      'kubectl -n <namespace> get tcp',
    ),
    InvalidSpec: anotherRestore,
    NotFailed: healthy,
  },
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof tenantRestoreConditions>;

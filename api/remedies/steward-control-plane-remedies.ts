import { definitionOutdatedRemedies } from './definition-outdated-remedies.ts';
import { healthy, passing, toDo } from './remedy.ts';
import type { RemediesOf } from './remedies-of.ts';
import { tenantControlPlaneRemedies } from './tenant-control-plane-remedies.ts';
import type { stewardControlPlaneConditions } from '../controlplane/condition-rows.ts';

const describe = 'kubectl -n <namespace> describe stewardcontrolplane <name>';
const describeCluster = 'clusterctl describe cluster <cluster> -n <namespace> --show-conditions all';
const ofTenant = passing(
  'Look at the TenantControlPlane: this condition depends on it.',
  'kubectl -n <namespace> describe tcp <name>',
);
const sleeping = passing(
  'Nothing, if this is intended. It wakes up with kubectl steward wake. The condition Asleep of its TenantControlPlane says whether and when it does so by itself.',
  'kubectl steward wake <name> -n <namespace>',
);
const managerLog = 'kubectl -n steward-system logs -l app.kubernetes.io/name=steward --tail=200';
const internalError = toDo('See the log of the manager. It is tried again with back-off.', managerLog);
const withoutCluster = toDo(
  'Set spec.controlPlaneRef of a Cluster to this object.',
  'kubectl -n <namespace> get clusters',
);
const retainedRecord = 'kubectl describe retainedcontrolplane <namespace>.<name>';
const hostingRights = toDo(
  'Grant the permission that the message names to the user of the kubeconfig in the hosting cluster.',
  describe,
);

const restores = 'kubectl -n <namespace> get tenantrestores';
const restoreAgain = toDo(
  'Remove the cause in the message, then delete the TenantRestore that it names: another one is created. Or delete the Cluster.',
  restores,
);
const ofRestore = passing(
  'Wait, or do what the message says. The TenantRestore <name>-restore has the details.',
  restores,
);

const legacyControlPlane = {
  FoundExternalReferenceClient: {
    Disabled: toDo(
      'Add the feature gate that the message names to --feature-gates of the manager, or remove externalClusterReference.',
    ),
    SecretInvalid: toDo('Put a usable kubeconfig into the Secret that externalClusterReference names.', describe),
    Forbidden: hostingRights,
    NamespaceMissing: toDo('Create the namespace in the hosting cluster.'),
    NamespaceTerminating: passing('Wait until the namespace is deleted, then create it again.'),
    ClusterChanged: toDo(
      'Restore the kubeconfig of the cluster that has the TenantControlPlane, and its namespace.',
      describe,
    ),
    ReferenceRemoved: toDo('Restore externalClusterReference.', describe),
  },
  TenantControlPlaneCreated: {
    Refused: toDo('Correct the field that the message names.', describe),
    OwnedByAnother: toDo(
      'Give this object another name, or delete the TenantControlPlane of the other owner.',
      describe,
    ),
    RetainingData: passing(
      'Wait: the TenantControlPlane is recreated, and adopts the retained data unless the RetainedControlPlane is being deleted. Do not delete this object: that removes the retained data.',
      retainedRecord,
    ),
    RecordUnreadable: toDo('Do what the message says.', retainedRecord),
    AdoptedByAnother: toDo('Delete one of the two StewardControlPlanes.', describe),
    ApiMissing: toDo('Install the CustomResourceDefinitions and a manager of Steward in the hosting cluster.'),
    Forbidden: hostingRights,
    WaitingForCluster: withoutCluster,
  },
  TenantControlPlaneAddressReady: { Pending: ofTenant },
  ControlPlaneEndpointPatched: { Pending: ofTenant },
  InfrastructureClusterPatched: {
    Pending: ofTenant,
    WaitingForControlPlane: ofTenant,
    EndpointMismatch: toDo(
      'Decide which endpoint is right. Remove the other one from the infrastructure cluster and the Cluster, or expose the control plane at it.',
      describeCluster,
    ),
    Forbidden: toDo(
      'Grant the permission that the message names to the manager: a ClusterRole for the infrastructure provider.',
      describe,
    ),
    KindNotFound: toDo(
      'Install the infrastructure provider, in a version that supports the contract.',
      describeCluster,
    ),
    NotFound: toDo(
      'Create the infrastructure cluster that spec.infrastructureRef of the Cluster names.',
      describeCluster,
    ),
    FieldsPruned: toDo(
      'Install a version of the infrastructure provider whose kind has the field for an endpoint. If there is none, expose the control plane at the endpoint that the provider chooses, or set the annotation steward.butlerlabs.dev/skip-infrastructure.',
      describe,
    ),
  },
  StewardControlPlaneIsInitialized: { Pending: ofTenant },
  StewardControlPlaneIsReady: { Pending: ofTenant },
  KubeadmResourcesCreated: {
    Pending: ofTenant,
    OwnedByAnother: toDo('Delete or rename the Secret that the message names.', 'kubectl -n <namespace> get secrets'),
    CAMismatch: toDo(
      'Put the CA of the control plane into the Secret that the message names; after a rotation, remove the supplied one.',
      describe,
    ),
  },
} as const;

/** What to do about every reason of the conditions of a StewardControlPlane. */
export const stewardControlPlaneRemedies = {
  Available: {
    Available: healthy,
    NotAvailable: ofTenant,
    Sleeping: sleeping,
    AvailableUnknown: toDo('Look at FoundExternalReferenceClient.', describe),
    InternalError: internalError,
    WaitingForCluster: withoutCluster,
  },
  Initialized: { Initialized: healthy, NotInitialized: ofTenant },
  CertificatesAvailable: { Available: healthy, NotAvailable: ofTenant, InternalError: internalError },
  RollingOut: {
    RollingOut: passing('Wait until the new pods are ready, or look at UpgradeAllowed of the TenantControlPlane.'),
    NotRollingOut: healthy,
    WaitingForClusterAddon: toDo(
      'Repair the ClusterAddon that the message names, if it does not become ready by itself. With the annotation steward.butlerlabs.dev/upgrade-before-addons, the upgrade does not wait.',
      'kubectl -n <namespace> get clusteraddons',
    ),
    WithoutClusterAddon: passing('Nothing, if it is intended: an annotation requests it.'),
  },
  ScalingUp: {
    ScalingUp: ofTenant,
    NotScalingUp: healthy,
    WaitingForReplicasSet: ofTenant,
  },
  ScalingDown: {
    ScalingDown: passing('Wait until the pods are removed.'),
    NotScalingDown: healthy,
    WaitingForReplicasSet: ofTenant,
  },
  Deleting: {
    Deleting: ofTenant,
    WaitingForWorkersDeletion: passing(
      'Wait until the Machines in the message are deleted, or remove what blocks their deletion.',
      describeCluster,
    ),
    NotDeleting: healthy,
  },
  Asleep: tenantControlPlaneRemedies.Asleep,
  Paused: tenantControlPlaneRemedies.Paused,
  Remediating: { NotRemediating: healthy },
  Ready: {
    Ready: healthy,
    NotReady: toDo('Look at the condition that the message names.', describe),
    Sleeping: sleeping,
    ReadyUnknown: toDo('Look at FoundExternalReferenceClient.', describe),
    WaitingForCluster: withoutCluster,
  },
  Restored: {
    Completed: healthy,
    Pending: ofRestore,
    StorageNotAllowed: toDo(
      'Ask the operator to allow the storage with --backup-claims or --backup-buckets, or create the Cluster again with storage that is allowed.',
      restores,
    ),
    BackupNotFound: toDo(
      'Create what the message names, or create the Cluster again with restoreFrom.repository, which needs neither.',
      'kubectl -n <namespace> get tenantbackups,backuppolicies',
    ),
    TenantControlPlaneNotFound: passing('Wait: the TenantControlPlane is created by this object.', describe),
    WaitingForSleep: toDo(
      'Delete the control plane that was backed up, or put it to sleep: no two may use the same CAs and keys at the same time. For a second control plane beside it, use a TenantRestore of type Clone.',
      'kubectl steward sleep <name> -n <namespace>',
    ),
    WaitingForKey: toDo(
      'Create the Secret that the message names, with the key that the backups were encrypted with: the restore goes on by itself.',
      'kubectl -n <namespace> get secrets',
    ),
    WaitingForPods: ofRestore,
    WaitingForProcesses: ofRestore,
    Running: ofRestore,
    RestoreFailed: restoreAgain,
    TenantControlPlaneExists: toDo(
      'Nothing, if the control plane is as it should be. To return it to a backup, use a TenantRestore of type InPlace.',
      'kubectl -n <namespace> describe tcp <name>',
    ),
    Disabled: toDo('Start the manager with the feature gate Backups, or create the Cluster again without restoreFrom.'),
    MarkMissing: toDo(
      'Do what the message says: remove the annotation from the TenantControlPlane, or delete the TenantRestore.',
      restores,
    ),
    OwnedByAnother: toDo('Delete the TenantRestore in the message, or give this object another name.', restores),
  },
  OneCluster: {
    OneCluster: healthy,
    SeveralClusters: toDo(
      'Give each other Cluster a StewardControlPlane of its own.',
      'kubectl -n <namespace> get clusters',
    ),
  },
  ...legacyControlPlane,
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof stewardControlPlaneConditions>;

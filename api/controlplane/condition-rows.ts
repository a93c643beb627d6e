import type { ConditionRow } from '../condition-row.ts';
import { definitionOutdatedRow } from '../definition-outdated-row.ts';
import { tenantRestoreConditions } from '../steward/v1alpha1/backup/condition-rows.ts';
import { tenantControlPlaneConditions } from '../steward/v1alpha1/condition-rows.ts';

const incomplete = tenantRestoreConditions.Complete.reasons;
const failed = tenantRestoreConditions.Failed.reasons;

/** Conditions of the Go provider. They stay because users name them in `kubectl wait`. */
const legacyControlPlane = {
  FoundExternalReferenceClient: {
    meaning: 'The hosting cluster, to which `externalClusterReference` points, is reachable.',
    polarity: 'positive',
    reasons: {
      Disabled: 'The required feature gate is disabled. The message names it.',
      SecretInvalid: 'The kubeconfig Secret is missing, or its kubeconfig cannot be used.',
      Forbidden:
        'The hosting cluster rejects the credentials, or its Role lacks a permission. The message names the permission.',
      NamespaceMissing: 'The namespace does not exist in the hosting cluster.',
      NamespaceTerminating: 'The namespace in the hosting cluster is being deleted.',
      ClusterChanged:
        'The kubeconfig points to a different cluster or namespace from the one that has the TenantControlPlane.',
      ReferenceRemoved:
        'The reference was removed although the TenantControlPlane is in the hosting cluster. Restore the reference.',
    },
  },
  TenantControlPlaneCreated: {
    meaning: 'The TenantControlPlane exists and matches this object.',
    polarity: 'positive',
    reasons: {
      Refused: 'The API server rejected the TenantControlPlane. The message says why.',
      OwnedByAnother: 'A TenantControlPlane with this name exists and has another owner.',
      RetainingData:
        'The TenantControlPlane was deleted, but this object was not. A RetainedControlPlane retains the data for the TenantControlPlane that replaces it.',
      RecordUnreadable:
        'The retained record, which says where the retained data is, cannot be read. The message says why and how to fix it.',
      AdoptedByAnother: 'Another StewardControlPlane has adopted the TenantControlPlane in the hosting cluster.',
      ApiMissing: 'Steward is not installed in the hosting cluster.',
      Forbidden:
        'The Role in the hosting cluster does not permit writing the TenantControlPlane. The message names the permission.',
      WaitingForCluster: 'No Cluster owns this object yet. Set the controlPlaneRef of a Cluster to this object.',
    },
  },
  TenantControlPlaneAddressReady: {
    meaning: 'The TenantControlPlane has an endpoint.',
    polarity: 'positive',
    reasons: { Pending: 'The TenantControlPlane does not have an endpoint yet.' },
  },
  ControlPlaneEndpointPatched: {
    meaning: 'The endpoint is set in the spec of this object.',
    polarity: 'positive',
    reasons: { Pending: 'There is no endpoint yet.' },
  },
  InfrastructureClusterPatched: {
    meaning: 'The endpoint is set in the infrastructure cluster.',
    polarity: 'positive',
    reasons: {
      Pending: 'There is no endpoint yet.',
      WaitingForControlPlane:
        'The control plane is not ready at its endpoint yet. The infrastructure cluster is patched once it is.',
      EndpointMismatch:
        'The infrastructure cluster, or the Cluster, has another endpoint. One of the two must be changed manually.',
      Forbidden: 'The manager may not patch the infrastructure cluster. The message names the missing permission.',
      KindNotFound:
        'The kind of the infrastructure cluster has no CustomResourceDefinition, or one without a contract label.',
      NotFound: 'The infrastructure cluster that the Cluster references does not exist.',
      FieldsPruned: 'The API server dropped what was written to the infrastructure cluster.',
    },
  },
  StewardControlPlaneIsInitialized: {
    meaning: 'The API server has responded at least once.',
    polarity: 'positive',
    reasons: { Pending: 'The API server has not responded yet.' },
  },
  StewardControlPlaneIsReady: {
    meaning: 'The API server can be used.',
    polarity: 'positive',
    reasons: { Pending: 'The TenantControlPlane is not ready.' },
  },
  KubeadmResourcesCreated: {
    meaning: 'The Secrets that Cluster API reads exist: kubeconfig and CA.',
    polarity: 'positive',
    reasons: {
      Pending: 'The TenantControlPlane has not yet created the Secrets that these are copied from.',
      OwnedByAnother: 'A Secret with one of these names exists but does not belong to this Cluster. It is left alone.',
      CAMismatch:
        'The user-supplied CA of the Cluster is not the CA of the control plane or, since a rotation, no longer its only one.',
    },
  },
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a StewardControlPlane: those of the Cluster API contract, and the older names. */
export const stewardControlPlaneConditions = {
  Available: {
    meaning: 'The API server can be used.',
    polarity: 'positive',
    reasons: {
      Available: 'The API server can be used.',
      NotAvailable: 'The API server cannot be used. The message says why.',
      Sleeping: 'The control plane sleeps, so no pods run.',
      AvailableUnknown: 'It is unknown whether the API server can be used.',
      InternalError: 'An error prevented the check.',
      WaitingForCluster: 'No Cluster owns this object yet. Set the controlPlaneRef of a Cluster to this object.',
    },
  },
  Initialized: {
    meaning: 'The API server has responded at least once. Stays True afterwards.',
    polarity: 'positive',
    reasons: {
      Initialized: 'The API server has responded.',
      NotInitialized: 'The API server has not responded yet.',
    },
  },
  CertificatesAvailable: {
    meaning: 'The CA and the kubeconfig exist.',
    polarity: 'positive',
    reasons: {
      Available: 'Both exist.',
      NotAvailable: 'At least one of them does not exist yet.',
      InternalError: 'An error prevented their creation.',
    },
  },
  RollingOut: {
    meaning: 'Up-to-date pods are replacing outdated ones.',
    polarity: 'negative',
    reasons: {
      RollingOut: 'Pods are being replaced, or an upgrade is waiting to start. The message contains the progress.',
      NotRollingOut: 'All pods are up to date.',
      WaitingForClusterAddon:
        'An upgrade is held until the add-ons of the new ClusterClass are in place. The message names the ClusterAddon and what it is waiting for.',
      WithoutClusterAddon:
        'An upgrade rolls out before the add-ons of the new ClusterClass are in place, because an annotation requests it. The message says what the upgrade does not wait for.',
    },
  },
  ScalingUp: {
    meaning: 'There are fewer pods than requested.',
    polarity: 'negative',
    reasons: {
      ScalingUp: 'Pods are being added.',
      NotScalingUp: 'There are at least as many pods as requested.',
      WaitingForReplicasSet: 'The number of pods is not known yet.',
    },
  },
  ScalingDown: {
    meaning: 'There are more pods than requested.',
    polarity: 'negative',
    reasons: {
      ScalingDown: 'Pods are being removed.',
      NotScalingDown: 'There are no more pods than requested.',
      WaitingForReplicasSet: 'The number of pods is not known yet.',
    },
  },
  Deleting: {
    meaning: 'The object is being deleted.',
    polarity: 'negative',
    reasons: {
      Deleting: 'Everything that belongs to the object is being removed.',
      WaitingForWorkersDeletion: 'Workers still need the API server. The message names them.',
      NotDeleting: 'The object is not being deleted.',
    },
  },
  Asleep: tenantControlPlaneConditions.Asleep,
  Paused: tenantControlPlaneConditions.Paused,
  Remediating: {
    meaning:
      'Machines of the control plane are being replaced. The control plane has no Machines, so this condition is always False.',
    polarity: 'negative',
    reasons: { NotRemediating: 'There are no Machines to replace.' },
  },
  Ready: {
    meaning: 'The control plane is initialized, can be used, and matches the spec.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      NotReady: 'The message says what is missing.',
      Sleeping: 'The control plane sleeps, so no pods run.',
      ReadyUnknown:
        'The cluster that hosts the control plane cannot be queried. The status is the last one that was known.',
      WaitingForCluster: 'No Cluster owns this object yet. Set the controlPlaneRef of a Cluster to this object.',
    },
  },
  Restored: {
    meaning: 'The backup in the spec was restored, once. Present only if `spec.restoreFrom` is or was set.',
    polarity: 'positive',
    reasons: {
      StorageNotAllowed: incomplete.StorageNotAllowed,
      BackupNotFound: incomplete.BackupNotFound,
      TenantControlPlaneNotFound: incomplete.TenantControlPlaneNotFound,
      WaitingForKey: incomplete.WaitingForKey,
      WaitingForSleep: incomplete.WaitingForSleep,
      WaitingForPods: incomplete.WaitingForPods,
      WaitingForProcesses: incomplete.WaitingForProcesses,
      Running: incomplete.Running,
      RestoreFailed: failed.RestoreFailed,
      TenantControlPlaneExists: failed.TenantControlPlaneExists,
      Completed: 'The backup was restored. The message says up to which moment.',
      Pending: 'The restore has not begun yet. The message says what it is waiting for.',
      Disabled: 'The feature gate Backups is disabled. The message says how to enable it.',
      OwnedByAnother: 'A TenantRestore that does not belong to this object has the name that its restore needs.',
      MarkMissing:
        'The TenantControlPlane lacks the annotation by which the restore of this object confirms that CAs, keys and data are complete.',
    },
  },
  OneCluster: {
    meaning:
      'No other Cluster references this object as its control plane. Reported only after another Cluster has referenced it.',
    polarity: 'positive',
    reasons: {
      OneCluster: 'Only the Cluster that this object serves references it.',
      SeveralClusters: 'Other Clusters reference this object too. It does not serve them. The message names them.',
    },
  },
  ...legacyControlPlane,
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

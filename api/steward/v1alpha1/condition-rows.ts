import type { ConditionRow } from '../../condition-row.ts';
import { definitionOutdatedRow } from '../../definition-outdated-row.ts';

/** Why a datastore cannot be used. */
const storeReasons = {
  Unauthorized: 'The datastore rejects the credentials.',
  Unsupported: 'The datastore version is too old to isolate tenants safely. The message names the minimum version.',
  CredentialsMissing: 'A Secret with credentials, or a key in it, does not exist.',
  CredentialsInvalid: 'The credentials exist but cannot be parsed.',
  OwnedByAnother: 'The schema or user in the datastore belongs to another tenant.',
  InvalidName: 'The schema or user is not a valid name for a tenancy in this datastore.',
  SingleTenant:
    'The datastore cannot isolate tenants and already serves another one. The message says how to change that.',
} as const;

/** Conditions of a TenantControlPlane. */
export const tenantControlPlaneConditions = {
  Ready: {
    meaning: 'The API server responds and everything in the spec is in place.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      Provisioning: 'The control plane has not responded for the first time yet.',
      NotReady: 'Something that was in place no longer is. The message names the condition.',
      RollingOut: 'New pods are replacing old ones. The API server keeps responding.',
      Upgrading: 'Pods with another Kubernetes version are replacing the old ones.',
      UpgradeHeld:
        'Everything is in place except the Kubernetes version, whose upgrade is held. UpgradeAllowed says why.',
      RolloutFailed:
        'Everything is in place except a rollout, which was rolled back to the previous pods. UpgradeAllowed says why.',
      Migrating: 'The data is being migrated to another DataStore.',
      CertificateAuthorityRotating: 'Pods that trust a new CA are being rolled out.',
      WriteLimited: 'The API server responds, but denies writes as requested in the spec.',
      Sleeping: 'The control plane sleeps, so no pods run.',
    },
  },
  StoreReady: {
    meaning: 'The tenant has its own tenancy in a DataStore, with credentials.',
    polarity: 'positive',
    reasons: {
      ...storeReasons,
      DataStoreNotAllowed:
        'The DataStore does not allow tenants of this namespace. The message says how to fix it. Tenants that already have their data in it are not affected.',
      DataStoreNotVerified:
        'The DataStore has not been verified to isolate tenants, so it accepts no new ones; its condition IsolationVerified says why. Tenants that already have their data in it are not affected.',
      DataStoreNotFound: 'The DataStore named in the spec does not exist.',
      AdoptingData:
        'The data of a deleted TenantControlPlane of this name is retained, and has to be adopted first. The message says what it waits for.',
      OverrideUnusable: 'A resource cannot be stored where spec.dataStoreOverrides says. The message says why.',
      NoDataStoreFits:
        'The spec names no DataStore, and none can take the tenant. The message says why each one was ruled out.',
      PlacementPending: 'A DataStore was just chosen. The tenancy is created next.',
    },
  },
  Placed: {
    meaning: 'A DataStore was chosen for a tenant whose spec names none. The message says why it was chosen.',
    polarity: 'positive',
    reasons: {
      Placed: 'The message contains the score and the reasons.',
      Named: 'The spec now names a DataStore, which takes precedence.',
      Drained: 'The chosen DataStore was drained, and the data was migrated to another one. The message names both.',
      NoDataStoreFits: 'No DataStore can take the tenant. StoreReady says why each one was ruled out.',
    },
  },
  EndpointReady: {
    meaning:
      'The address at which workers and users reach the API server is known and, as far as can be determined, leads to it.',
    polarity: 'positive',
    reasons: {
      NotExposed: 'The Service, or the Gateway in front of it, has no address yet.',
      KindNotInstalled:
        'The management cluster does not have the kind of route in the spec. The message says what to install.',
      RouteNotAccepted: 'No Gateway has accepted the route. The message contains what each one reports.',
      HostNameTaken:
        'An older control plane uses the host name. The message names that control plane if it is in the same namespace.',
      NoNodeAddress: 'No node of the management cluster has an internal address.',
      WrongAddressFamily:
        'The address and the first service network are of different families: one is IPv4, the other IPv6.',
      NoFreeNodePort: 'All ports of the node port range are in use.',
      ExternalIPNotAllowed: 'The manager does not allow the address as an external IP. The message names the flag.',
      AddressInUse: 'Another Service has the node port.',
    },
  },
  CertificatesReady: {
    meaning: 'All certificates and keys exist, are valid and match their CA.',
    polarity: 'positive',
    reasons: {
      Rotating: 'Certificates are being replaced.',
      WaitingForRestore: 'A TenantRestore has to restore the CAs and keys first. The message names it.',
      SecretBroken: 'A Secret is damaged, and its key cannot be regenerated safely. The message names the Secret.',
      NotYetValid: 'A CA is not valid yet, because a clock is or was wrong. The message names the Secret and the time.',
      SuppliedSecretInvalid:
        'A user-supplied CA or key of the Cluster cannot be used. The message names the Secret and what is wrong with it.',
      SecretInTheWay:
        'A Secret of Cluster API that was not supplied for this control plane has the name of a Secret that the control plane needs. The message names the Secret.',
    },
  },
  KubeconfigsReady: {
    meaning: 'All kubeconfigs exist and point to the endpoint.',
    polarity: 'positive',
    reasons: { Rotating: 'Kubeconfigs are being replaced.' },
  },
  ControlPlaneAvailable: {
    meaning: 'At least one pod of the control plane is serving.',
    polarity: 'positive',
    reasons: {
      WaitingForRestore: 'A TenantRestore has to restore keys and data first. The message names it.',
      RollingOut: 'New pods are replacing old ones.',
      StartsLater: 'Other control planes are starting their pods. This one follows when one of them is ready.',
      PodsNotReady: 'No pod is ready yet. The message contains what the pods report.',
      PodsRefused: 'The management cluster does not admit the pods. The message says why.',
      PodSecurityViolated:
        'Pod fields in the spec are not permitted in the namespace. The message names the field and the Pod Security Standard. Running pods are left alone.',
      ArgumentsRefused:
        'Extra arguments in the spec would replace the datastore, CAs, credentials or authorization that Steward configures. The message names them. Running pods are left alone.',
      ConfigurationRefused:
        'What the spec says about authentication, authorization, audit or admission cannot be used. The message names the field. Running pods are left alone.',
      WebhookSecretUnusable:
        'A Secret with credentials for a webhook of kube-apiserver does not exist or lacks them. The message names it. Running pods are left alone.',
      EncryptionKeyNotFound:
        'The Secret that spec.kubernetes.encryption.keySecret names, or the key in it, does not exist, so no pod starts. The message names it.',
      EncryptionKeyUnusable: 'The encryption key in the spec cannot be used, so no pod starts. The message says why.',
      EncryptionKeysLost:
        'The Secret with the keys of encrypted data is missing or damaged. Running pods are left alone.',
      StoppedForMigration:
        'The data is being migrated. This Kubernetes version cannot deny writes, so the API servers are stopped for the last part of the migration. Migrating shows the progress.',
      Sleeping: 'The control plane sleeps, so no pods run.',
    },
  },
  UpgradeAllowed: {
    meaning: 'The version and the pods in the spec can be rolled out. If False, the running ones stay.',
    polarity: 'positive',
    reasons: {
      MigrationInProgress: 'The data is being migrated to another DataStore. The upgrade starts afterwards.',
      StoreUnhealthy: 'The DataStore cannot be used, so new pods would not become ready.',
      KubeletsTooOld: 'Nodes run kubelets that do not support the new version. The message names some of them.',
      RemovedApisInUse: 'Clients use APIs that the new version does not serve. The message names some of them.',
      ApiServerUnreachable: 'The API server of the tenant does not report its nodes and the APIs in use.',
      StartsLater: 'Other control planes are starting their pods. This one gets new pods when one of them is ready.',
      RolloutFailed:
        'New pods did not become ready, or failed when they got connections. The previous pods serve. The message says why, and when the rollout is tried again.',
      Sleeping: 'The control plane sleeps, so there is no API server to query.',
    },
  },
  PodsProtected: {
    meaning:
      'The pods have a NetworkPolicy, unless the spec allows all connections, and a PodDisruptionBudget if there is more than one pod.',
    polarity: 'positive',
    reasons: {
      ManagementApiUnknown:
        'The address of the API server of the management cluster cannot be determined, so the NetworkPolicy does not block access to it.',
    },
  },
  Autoscaled: {
    meaning: 'A HorizontalPodAutoscaler decides how many pods run. Present only if the spec requests it, or once did.',
    polarity: 'positive',
    reasons: {
      Autoscaled: 'The HorizontalPodAutoscaler exists.',
      OtherAutoscaler:
        'A HorizontalPodAutoscaler that Steward did not create scales the same Deployment, so Steward creates none. The message names it.',
      MetricsUnavailable:
        'The HorizontalPodAutoscaler cannot compute a number of pods, so their number stays. The message is that of the HorizontalPodAutoscaler.',
      Sleeping: 'The control plane sleeps, so no pods run.',
      NotRequested: 'The spec no longer requests it.',
    },
  },
  Asleep: {
    meaning:
      'No pods are wanted at this time. Present only if `spec.sleep` or one of its annotations requests sleep, or once did.',
    polarity: 'negative',
    reasons: {
      Scheduled:
        'The schedules in the spec have put it to sleep. The message contains the time at which they wake it up, if they do.',
      Requested: 'The annotation `steward.butlerlabs.dev/sleep-until` or 0 replicas request it.',
      Idle: 'Nobody has used it for as long as `spec.sleep.afterIdle` says. The message contains the time at which a schedule wakes it up, if one does.',
      InUse:
        'It was used within the last minutes, or has started. It falls asleep when nobody has used it for as long as `spec.sleep.afterIdle` says.',
      NotUsed:
        'Nobody uses it, but not for as long as `spec.sleep.afterIdle` says. The message contains the time of the last use.',
      UseUnknown: 'Whether it is used cannot be read, so it stays awake. The message says why.',
      Awake:
        'The schedules in the spec say that it is awake, or somebody has called it. The message contains the time until which it is, if that is known.',
      KeptAwake: 'The annotation `steward.butlerlabs.dev/wake-until` keeps it awake.',
      Starting: 'It is time to sleep, but the control plane has not been Ready for the first time yet.',
      WorkUnderWay: 'It is time to sleep, but something has to end before. The message says what.',
      NotRequested: 'Neither the spec nor an annotation requests sleep anymore.',
    },
  },
  TenantConfigured: {
    meaning: 'The tenant contains what kubeadm would have created, so that workers can join.',
    polarity: 'positive',
    reasons: {
      ApiServerNotReady: 'The API server of the tenant does not respond yet.',
      PoliciesNotServed: 'This Kubernetes version does not serve the admission policies that the spec requires.',
      Sleeping: 'The control plane sleeps, so nothing inside the tenant is reconciled.',
    },
  },
  AddonsReady: {
    meaning: 'The add-ons in the spec are installed in the tenant.',
    polarity: 'positive',
    reasons: {
      ApiServerNotReady: 'The API server of the tenant does not respond yet.',
      RouteNotAccepted:
        'No Gateway has accepted the route for konnectivity agents or for trustd. The message contains what each one reports.',
      NotExposed: 'The Service has no node port for konnectivity agents or for trustd yet.',
      Sleeping: 'The control plane sleeps, so nothing inside the tenant is reconciled.',
    },
  },
  Migrating: {
    meaning: 'The data is being migrated to another DataStore.',
    polarity: 'negative',
    reasons: {
      Preparing: 'The tenancy in the target DataStore is being created.',
      Copying: 'The data is being copied. The tenant can be used as usual.',
      Following: 'Changes made in the meantime are being copied too. The tenant can be used as usual.',
      StoppingWrites: 'All API servers are about to deny writes, or to stop.',
      Finishing: 'Writes are denied, or no API server runs. The last changes are being copied and verified.',
      Switching: 'Writes are denied, or no API server gets requests. Pods that use the target DataStore are starting.',
      ResumingWrites: 'The target DataStore is in use. Writes are about to be allowed again.',
      Revoking: 'The target DataStore is in use. The credentials for the source are being revoked.',
      RollingBack: 'The migration did not succeed. The previous state is being restored.',
      Succeeded: 'The data is in the target DataStore.',
      Cancelled: 'The migration was canceled. The data stays where it was.',
    },
  },
  CertificateRequestsLeft: {
    meaning: 'Requests from nodes for serving certificates are pending in the tenant: neither approved nor denied.',
    polarity: 'negative',
    reasons: {
      NotApproved: 'The message names the first few requests and says why each was not approved.',
      AllHandled: 'No request is pending.',
    },
  },
  Rotating: {
    meaning: 'CAs or the service-account key are being rotated. Old and new CAs or keys are trusted.',
    polarity: 'negative',
    reasons: {
      Preparing: 'The new CAs or keys are being distributed. The message says what the rotation is waiting for.',
      Prepared:
        'Old and new CAs or keys are trusted. Once workers and users have the new ones, request the operation that completes the rotation.',
      Completing: 'The new CAs or keys are taking effect everywhere; afterwards the old ones are no longer trusted.',
      Completed: 'Only the new CAs or keys are trusted.',
      Refused: 'The operation that the annotation requests is not performed. The message says why.',
    },
  },
  DataEncrypted: {
    meaning:
      'All data of the resources in `spec.kubernetes.encryption` is stored encrypted. Present only if the spec requests it, or once did.',
    polarity: 'positive',
    reasons: {
      Encrypted: 'Everything is stored with the provider in the spec. The message names it.',
      Adding: 'API servers are being configured to read with the provider in the spec.',
      Switching: 'API servers begin to write with the provider in the spec.',
      Rewriting: 'Objects are being rewritten with the provider in the spec. The message says how many have been.',
      Retiring: 'The former provider is being removed from the API servers.',
      EncryptionKeyNotFound:
        'The Secret that spec.kubernetes.encryption.keySecret names, or the key in it, does not exist. The current configuration stays in effect.',
      EncryptionKeyUnusable:
        'The encryption key in the spec cannot be used. The message says why. The current configuration stays in effect.',
      EncryptionKeysLost:
        'The Secret with the keys of encrypted data is missing or damaged. Running pods are left alone.',
      NotRequested: 'The spec no longer requests it, and everything is stored in plain text.',
    },
  },
  WithinQuota: {
    meaning:
      'The tenant stores less, and writes less often, than `spec.quota` allows. Only present if the spec has a quota, or once had one.',
    polarity: 'positive',
    reasons: {
      WithinQuota: 'The tenant is below the percentage of every limit from which on it is reported.',
      NearQuota: 'The tenant will soon reach a limit. The message says which.',
      QuotaExceeded:
        'The tenant has reached a limit, so its API server denies creations and changes until enough is deleted, or until it has written little enough.',
      NotMeasured: 'What the tenant stores or writes has not been measured yet. Writes are allowed.',
      MeasurementFailed:
        'What the tenant stores or writes has not been measured for ten minutes, so writes are allowed. The message says why.',
      PoliciesNotServed:
        'This Kubernetes version does not serve the admission policies that a quota requires. Writes are allowed.',
      NotRequested: 'The spec has no quota anymore.',
    },
  },
  Paused: {
    meaning: 'The object is not reconciled, on request.',
    polarity: 'negative',
    reasons: {
      Paused: 'The message says what requests the pause.',
      NotPaused: 'The object is reconciled.',
    },
  },
  Deleting: {
    meaning: 'The object is being deleted.',
    polarity: 'negative',
    reasons: {
      Deleting: 'Everything that belongs to the object is being removed.',
      WaitingForStore: 'The data cannot be removed while the DataStore does not respond.',
      RetainingData:
        'The data is to be retained in a RetainedControlPlane, which is not possible yet. The message says why.',
      ReleasingData: 'The data is not to be retained after all, so the RetainedControlPlane is deleted first.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a RetainedControlPlane. */
export const retainedControlPlaneConditions = {
  Adoptable: {
    meaning: 'A TenantControlPlane of the same name can adopt what is retained.',
    polarity: 'positive',
    reasons: {
      Adoptable: 'The data can be adopted. Once `spec.adopterUID` names a TenantControlPlane, that one adopts it.',
      RecordUnreadable:
        'The retained record, which says where the retained data is, cannot be read. The message says why and how to fix it.',
    },
  },
  Deleting: {
    meaning: 'The object is being deleted, and the retained data with it.',
    polarity: 'negative',
    reasons: {
      WaitingForTenantControlPlane:
        'The TenantControlPlane that may still be responsible for the data has to adopt it or be deleted first.',
      WaitingForStore: 'The data cannot be removed. The message says why.',
      RecordUnreadable: 'It is unknown where the data is. The message says why and how to fix it.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a DataStore. */
export const dataStoreConditions = {
  Ready: {
    meaning: 'Tenants can be given a tenancy in the datastore.',
    polarity: 'positive',
    reasons: {
      Ready: 'The datastore can be used.',
      ...storeReasons,
    },
  },
  Reachable: {
    meaning: 'The datastore responds at its endpoints.',
    polarity: 'positive',
    reasons: { Reachable: 'The datastore responded.' },
  },
  Authorized: {
    meaning: 'The datastore accepts the credentials of the DataStore.',
    polarity: 'positive',
    reasons: { Authorized: 'The credentials were accepted.', ...storeReasons },
  },
  VersionSupported: {
    meaning: 'The datastore is recent enough to isolate tenants safely.',
    polarity: 'positive',
    reasons: {
      Supported: 'The version is at or above the minimum.',
      Unsupported: storeReasons.Unsupported,
    },
  },
  IsolationVerified: {
    meaning:
      'Two canary tenancies, with credentials like those of tenants, could not reach each other, other tenants or the administrative functions. The message has the version, the time and the number of attempts.',
    polarity: 'positive',
    reasons: {
      Verified: 'The datastore refused every attempt.',
      Breached: 'The datastore allowed an attempt, which the message names. New tenants wait.',
      SharedCredentials: 'All tenants would use the same credentials, so the datastore serves one tenant only.',
      Inconclusive:
        'The verification failed several times in a row. The message says why. It is repeated; new tenants are accepted, unless the last completed verification found a breach.',
      Pending: 'The datastore has not been verified yet, or not since its version or its spec changed.',
    },
  },
  Drained: {
    meaning:
      'All tenants that spec.drain does not keep have been migrated to other DataStores. Present only while spec.drain is set.',
    polarity: 'positive',
    reasons: {
      Drained: 'At most spec.drain.keep tenants remain. The message says what else remains.',
      Draining: 'Tenants are being migrated, one after the other. `status.drain` has the progress.',
      Blocked: 'The tenants that are left cannot be migrated for now. The message names one and says what to do.',
    },
  },
  Deleting: {
    meaning: 'The object is being deleted.',
    polarity: 'negative',
    reasons: {
      InUse:
        'TenantControlPlanes still have data here, data of deleted ones is retained here, or that is unknown. The message names the objects.',
      Deleting: 'The object is being removed.',
    },
  },
  SpaceReserved: {
    meaning:
      'The quota of every member of etcd has room for the history of what tenants overwrite. Present only if spec.etcd.compaction is set.',
    polarity: 'positive',
    reasons: {
      SpaceReserved: 'There is room.',
      CompactedEarly:
        'Tenants have overwritten so much that history was compacted early, in the last ten minutes. `status.etcd.compacted` says how far.',
      LiveDataTooLarge:
        'What tenants store now uses 80% of the quota or more, so there is little to compact. No tenant is placed here.',
      QuotaUnknown: 'Members of etcd report no quota.',
    },
  },
  Defragmented: {
    meaning:
      'No member of etcd has more free space in its file than spec.etcd.defragmentation allows. Present only if the spec requests it.',
    polarity: 'positive',
    reasons: {
      Defragmented: 'The files have little free space. `status.etcd.defragmented` says what was done.',
      Defragmenting: 'The members are being defragmented, one after the other.',
      MembersUnhealthy: 'A member does not respond, is not in sync, or has no leader. The message names it.',
      MembersNotListed: 'The endpoints are not exactly the members of the cluster. The message names one that differs.',
      AlarmRaised: 'A member has raised an alarm that a defragmentation does not clear. The message names both.',
      SpaceExceeded: 'The quota is used up, and a defragmentation would not free enough. etcd accepts no writes.',
      PauseTooLong: 'Defragmentation would block a member for longer than allowed. The message says what to do.',
      Busy: 'Another process is defragmenting a member.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a KubeconfigGenerator. */
export const kubeconfigGeneratorConditions = {
  Ready: {
    meaning: 'Every selected TenantControlPlane has its kubeconfig.',
    polarity: 'positive',
    reasons: { Ready: 'All kubeconfigs exist.', NotReady: 'Some kubeconfigs are missing. `status.errors` says why.' },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

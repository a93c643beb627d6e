import type { ConditionRow } from '../condition-row.ts';
import { definitionOutdatedRow } from '../definition-outdated-row.ts';
import { tenantControlPlaneConditions } from '../steward/v1alpha1/condition-rows.ts';

/** Conditions of the provider that came before, kept because `kubectl wait` of users names them. */
const legacyControlPlane = {
  FoundExternalReferenceClient: {
    meaning: 'The cluster of `externalClusterReference` can be reached.',
    polarity: 'positive',
    reasons: {
      Disabled: 'The feature gate that it needs is off; the message names it.',
      SecretInvalid: 'The Secret with its kubeconfig is missing, or its kubeconfig is not one that is used.',
      Forbidden:
        'The other cluster refuses the credentials, or its Role does not let them; the message names the right.',
      NamespaceMissing: 'The namespace is not there in the other cluster.',
      NamespaceTerminating: 'The namespace in the other cluster is being deleted.',
      ClusterChanged: 'The kubeconfig leads to another cluster or namespace than the one with the TenantControlPlane.',
      ReferenceRemoved:
        'The reference was taken out although the TenantControlPlane is in the other cluster; put it back.',
    },
  },
  TenantControlPlaneCreated: {
    meaning: 'The TenantControlPlane exists and is as this object asks.',
    polarity: 'positive',
    reasons: {
      Refused: 'The API server refused the TenantControlPlane; the message says why.',
      OwnedByAnother: 'A TenantControlPlane of this name exists that belongs to somebody else.',
      HandingOver: 'The TenantControlPlane was deleted alone; its data is kept for the one that takes its place.',
      RecordUnreadable: 'Where the data is that is kept cannot be read; the message says why, and what helps.',
      HeldByAnother: 'Another StewardControlPlane has taken over the TenantControlPlane in the other cluster.',
      ApiMissing: 'Steward is not installed in the other cluster.',
      Forbidden:
        'The Role in the other cluster does not let the TenantControlPlane be written; the message names the right.',
      WaitingForCluster: 'No Cluster owns this object yet: set its controlPlaneRef to it.',
    },
  },
  TenantControlPlaneAddressReady: {
    meaning: 'The TenantControlPlane has an endpoint.',
    polarity: 'positive',
    reasons: { Pending: 'The TenantControlPlane does not know its endpoint yet.' },
  },
  ControlPlaneEndpointPatched: {
    meaning: 'The endpoint stands in the spec of this object.',
    polarity: 'positive',
    reasons: { Pending: 'There is no endpoint yet.' },
  },
  InfrastructureClusterPatched: {
    meaning: 'The infrastructure cluster has the endpoint.',
    polarity: 'positive',
    reasons: {
      Pending: 'There is no endpoint yet.',
      WaitingForControlPlane:
        'The control plane is not ready at its endpoint yet; the infrastructure cluster learns it then.',
      EndpointMismatch:
        'The infrastructure cluster, or the Cluster, has another endpoint; one of the two must be changed by hand.',
      Forbidden: 'The manager may not change the infrastructure cluster; the message names the missing right.',
      KindNotFound: 'The kind of the infrastructure cluster is not defined, or without a label of the contract.',
      NotFound: 'The infrastructure cluster that the Cluster names does not exist.',
      NotKept: 'The API server dropped what was written to the infrastructure cluster.',
    },
  },
  StewardControlPlaneIsInitialized: {
    meaning: 'The API server has answered once.',
    polarity: 'positive',
    reasons: { Pending: 'The API server has not answered yet.' },
  },
  StewardControlPlaneIsReady: {
    meaning: 'The API server can be used.',
    polarity: 'positive',
    reasons: { Pending: 'The TenantControlPlane is not ready.' },
  },
  KubeadmResourcesCreated: {
    meaning: 'The Secrets that Cluster API reads are there: kubeconfig and certificate authority.',
    polarity: 'positive',
    reasons: {
      Pending: 'The TenantControlPlane has not made what they are copied from.',
      OwnedByAnother: 'A Secret of such a name exists that is not of this Cluster; it is left alone.',
      OtherAuthority:
        'The CA that somebody supplied for the Cluster is not that of the control plane, or not all of it since a rotation.',
    },
  },
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a StewardControlPlane: those of Cluster API's contract, and the older names. */
export const stewardControlPlaneConditions = {
  Available: {
    meaning: 'The API server can be used.',
    polarity: 'positive',
    reasons: {
      Available: 'The API server can be used.',
      NotAvailable: 'The API server cannot be used; the message says what is waited for.',
      AvailableUnknown: 'It is not known whether the API server can be used.',
      InternalError: 'An error kept it from being found out.',
      WaitingForCluster: 'No Cluster owns this object yet: set its controlPlaneRef to it.',
    },
  },
  Initialized: {
    meaning: 'The API server has answered once; it stays True.',
    polarity: 'positive',
    reasons: { Initialized: 'The API server has answered.', NotInitialized: 'It has not answered yet.' },
  },
  CertificatesAvailable: {
    meaning: 'The certificate authority and the kubeconfig are there.',
    polarity: 'positive',
    reasons: {
      Available: 'They are there.',
      NotAvailable: 'They are not there yet.',
      InternalError: 'An error kept them from being made.',
    },
  },
  RollingOut: {
    meaning: 'Pods of the newest kind replace others.',
    polarity: 'negative',
    reasons: {
      RollingOut: 'Pods are being replaced, or a version waits to be; the message says how far it is.',
      NotRollingOut: 'All pods are of the newest kind.',
      WaitingForClusterAddon:
        'A new version waits until the add-ons of the new ClusterClass are in place; the message names the ClusterAddon and what it waits for.',
      WithoutClusterAddon:
        'A new version rolls out before the add-ons of the new ClusterClass, since an annotation says so; the message says what was not waited for.',
    },
  },
  ScalingUp: {
    meaning: 'There are fewer pods than wanted.',
    polarity: 'negative',
    reasons: {
      ScalingUp: 'Pods are being added.',
      NotScalingUp: 'There are not too few pods.',
      WaitingForReplicasSet: 'The number of pods is not known yet.',
    },
  },
  ScalingDown: {
    meaning: 'There are more pods than wanted.',
    polarity: 'negative',
    reasons: {
      ScalingDown: 'Pods are being removed.',
      NotScalingDown: 'There are not too many pods.',
      WaitingForReplicasSet: 'The number of pods is not known yet.',
    },
  },
  Deleting: {
    meaning: 'The object is going away.',
    polarity: 'negative',
    reasons: {
      Deleting: 'What belongs to it is being removed.',
      WaitingForWorkersDeletion: 'Workers still need the API server; the message names them.',
      DeletionCompleted: 'Everything is removed.',
      NotDeleting: 'The object stays.',
    },
  },
  Paused: tenantControlPlaneConditions.Paused,
  Remediating: {
    meaning: 'Machines of the control plane are being replaced; there are none, so it stays False.',
    polarity: 'negative',
    reasons: { NotRemediating: 'There are no Machines to replace.' },
  },
  Ready: {
    meaning: 'The control plane is initialized, can be used, and is as the spec asks.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      NotReady: 'The message names the condition that is missing.',
      ReadyUnknown: 'The cluster that hosts the control plane cannot be asked; the status is the last that was known.',
      WaitingForCluster: 'No Cluster owns this object yet: set its controlPlaneRef to it.',
    },
  },
  UnsupportedFields: tenantControlPlaneConditions.UnsupportedFields,
  OneCluster: {
    meaning: 'No other Cluster names this object as its control plane; given once one did.',
    polarity: 'positive',
    reasons: {
      OneCluster: 'Only the Cluster that is served names it.',
      SeveralClusters: 'Others name it too and are not served; the message names them.',
    },
  },
  ...legacyControlPlane,
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

import type { ConditionRow } from '../../condition-row.ts';
import { definitionOutdatedRow } from '../../definition-outdated-row.ts';

/** Why a store of tenants' data cannot be used. */
const storeReasons = {
  Unauthorized: 'The store refuses the credentials.',
  Unsupported: 'The store is too old to keep tenants apart safely; the message names the lowest version.',
  CredentialsMissing: 'A Secret or a key with credentials is not there.',
  CredentialsInvalid: 'Credentials are there but cannot be read.',
  OwnedByAnother: 'The schema or user in the store belongs to another tenant.',
  InvalidName: 'The schema or user cannot name a share of the store.',
  SingleTenant: 'The store cannot keep tenants apart and holds another one; the message says what would change that.',
} as const;

/** Conditions of a TenantControlPlane. */
export const tenantControlPlaneConditions = {
  Ready: {
    meaning: 'The API server answers and everything that the spec asks for is in place.',
    polarity: 'positive',
    reasons: {
      Ready: 'Everything is in place.',
      Provisioning: 'The control plane has not answered yet for the first time.',
      NotReady: 'Something that was in place is not any more; the message names the condition.',
      RollingOut: 'New pods replace old ones; the API server answers meanwhile.',
      Upgrading: 'Pods of another Kubernetes version replace the old ones.',
      UpgradeHeld: 'All is in place but the Kubernetes version, which waits; UpgradeAllowed says why.',
      Migrating: 'The data is on its way to another DataStore.',
      CertificateAuthorityRotating: 'New pods trust a new certificate authority.',
      WriteLimited: 'The API server answers, but writes are denied as the spec asks.',
      Sleeping: 'No pods are wanted.',
    },
  },
  StoreReady: {
    meaning: 'The tenant has its own share of a DataStore, with credentials.',
    polarity: 'positive',
    reasons: {
      ...storeReasons,
      DataStoreNotAllowed:
        'The DataStore takes no tenants of this namespace; the message says how to fix it. Tenants that have their data there stay.',
      DataStoreNotFound: 'The DataStore that is named does not exist.',
      Inheriting: 'The data of the TenantControlPlane that was here before is to be taken over first.',
      OverrideUnusable: 'A resource cannot be kept where spec.dataStoreOverrides says; the message tells why.',
      NoDataStoreFits: 'The spec names no DataStore and none can take the tenant; the message says what each lacks.',
      Placing: 'A DataStore was chosen just now; the share of it is made next.',
    },
  },
  Placed: {
    meaning: 'A DataStore was chosen for a tenant whose spec names none; the message says why this one.',
    polarity: 'positive',
    reasons: {
      Placed: 'The message has score and reasons.',
      Named: 'The spec names the DataStore by now, and that counts.',
      NoDataStoreFits: 'No DataStore can take the tenant; StoreReady says what each lacks.',
    },
  },
  EndpointReady: {
    meaning:
      'The address at which workers and users reach the API server is known, and leads there as far as can be told.',
    polarity: 'positive',
    reasons: {
      NotExposed: 'The Service, or the Gateway in front of it, has no address yet.',
      KindNotInstalled:
        'The cluster does not have the kind of route that the spec asks for; the message says what to install.',
      RouteNotAccepted: 'No Gateway has accepted the route; the message has what each says.',
      HostNameTaken:
        'An older control plane has the host name; the message names it where it is in the same namespace.',
      NoNodeAddress: 'No node of this cluster has an internal address.',
      WrongAddressFamily: 'The address is IPv4 where the first service network is IPv6, or the other way round.',
      NoFreeNodePort: 'Every port of the node port range is taken.',
      ExternalIPNotAllowed:
        'The manager was not told that the address may be an external IP; the message names the flag.',
      AddressInUse: 'The address or port belongs to another Service.',
    },
  },
  CertificatesReady: {
    meaning: 'All certificates and keys are there, valid, and of one authority.',
    polarity: 'positive',
    reasons: {
      Rotating: 'Certificates are being replaced.',
      SecretBroken: 'A Secret with a key that cannot be made anew safely was damaged; the message names it.',
      SuppliedSecretUnfit:
        'An authority or key that was supplied for the Cluster cannot be used; the message names the Secret, and what is wrong.',
      SecretInTheWay:
        'A Secret of Cluster API that was not supplied for this control plane has the name of one of its own.',
    },
  },
  KubeconfigsReady: {
    meaning: 'All kubeconfigs are there and point to the endpoint.',
    polarity: 'positive',
    reasons: { Rotating: 'Kubeconfigs are being replaced.' },
  },
  ControlPlaneAvailable: {
    meaning: 'At least one pod of the control plane serves.',
    polarity: 'positive',
    reasons: {
      Available: 'The pods serve.',
      RollingOut: 'New pods replace old ones.',
      PodsNotReady: 'No pod is ready yet; the message says what the pods report.',
      PodsRefused: 'The cluster does not admit the pods; the message says why.',
      PodSecurityViolated:
        'What the author adds to the pods is not permitted in the namespace; the message names field and standard. Pods that run are left alone.',
      ArgumentsRefused:
        'Arguments of the author lead a program out of what Steward made for it; the message names them. Pods that run are left alone.',
      Sleeping: 'No pods are wanted.',
    },
  },
  UpgradeAllowed: {
    meaning: 'Nothing speaks against the minor version that the spec asks for; otherwise the one that runs goes on.',
    polarity: 'positive',
    reasons: {
      DataMoves: 'The data is on its way to another DataStore; the version follows when it is there.',
      StoreUnhealthy: 'The DataStore cannot be used, so that new pods would not become ready.',
      KubeletsTooOld: 'Nodes have kubelets that do not work with the new version; the message names some.',
      RemovedApisInUse: 'Clients ask for APIs that the new version does not serve; the message names some.',
      ApiServerSilent: 'The API server of the tenant does not tell its nodes and the APIs in use.',
      Sleeping: 'No pods are wanted, so nobody can be asked.',
    },
  },
  PodsProtected: {
    meaning:
      'The pods have a NetworkPolicy and, if there are several, a PodDisruptionBudget, as far as the spec wants them.',
    polarity: 'positive',
    reasons: {
      ManagementApiUnknown:
        'It cannot be told where the API server of this cluster is, so that the policy does not keep pods from it.',
    },
  },
  TenantConfigured: {
    meaning: 'The tenant holds what kubeadm would have put there, so that workers can join.',
    polarity: 'positive',
    reasons: {
      ApiServerNotReady: 'The API server of the tenant does not answer yet.',
      PoliciesNotServed: 'This Kubernetes version has no admission policies, which the spec needs.',
      Sleeping: 'No pods are wanted, so nothing inside the tenant is looked at.',
    },
  },
  AddonsReady: {
    meaning: 'The add-ons that the spec asks for are installed in the tenant.',
    polarity: 'positive',
    reasons: {
      ApiServerNotReady: 'The API server of the tenant does not answer yet.',
      RouteNotAccepted:
        'No Gateway has accepted the route of konnectivity agents, or of trustd; the message has what each says.',
      NotExposed: 'The Service has no node port for konnectivity agents, or for trustd, yet.',
      Sleeping: 'No pods are wanted, so nothing inside the tenant is looked at.',
    },
  },
  Migrating: {
    meaning: 'The data is on its way to another DataStore.',
    polarity: 'negative',
    reasons: {
      Preparing: 'The share of the other DataStore is being made.',
      Copying: 'The data is being copied; the tenant is used as always.',
      Following: 'What changes meanwhile is being copied too; the tenant is used as always.',
      Freezing: 'Writes are about to be denied by every API server.',
      Finishing: 'Writes are denied; the last changes are copied and verified.',
      Switching: 'Writes are denied; pods that use the other DataStore replace the others.',
      Thawing: 'The other DataStore is in use; writes are about to be allowed again.',
      Revoking: 'The other DataStore is in use; the credentials for the old one are being taken away.',
      RollingBack: 'The migration has ended without success; everything is being put back as it was.',
      Succeeded: 'The data is in the other DataStore.',
      Cancelled: 'Somebody took the wish back; the data is where it was.',
    },
  },
  CertificateRequestsLeft: {
    meaning: 'The tenant has requests for serving certificates of nodes that nobody has approved or denied.',
    polarity: 'negative',
    reasons: {
      NotApproved: 'The message names the first of them, and what of each does not fit the node that made it.',
      AllHandled: 'None is left.',
    },
  },
  Rotating: {
    meaning: 'Authorities or the key of service-account tokens are being replaced; old and new ones are trusted.',
    polarity: 'negative',
    reasons: {
      Preparing: 'The new ones are made known everywhere; the message says what is waited for.',
      Prepared:
        'Old and new ones are trusted. When workers and users have the new ones, an operation completes the rotation.',
      Completing: 'The new ones take over everything, then the old ones are trusted no more.',
      Completed: 'Only the new ones are trusted.',
      Refused: 'What the annotation asks for is not done; the message says why.',
    },
  },
  UnsupportedFields: {
    meaning: 'The spec uses fields that this version does not act upon.',
    polarity: 'negative',
    reasons: {
      NotActedUpon: 'The message names the fields; take them out or use a version that knows them.',
      AllSupported: 'Every field of the spec is acted upon.',
    },
  },
  Paused: {
    meaning: 'The object is left alone on request.',
    polarity: 'negative',
    reasons: {
      Paused: 'The message names who asked for it.',
      NotPaused: 'The object is looked after.',
    },
  },
  Deleting: {
    meaning: 'The object is going away.',
    polarity: 'negative',
    reasons: {
      Deleting: 'What belongs to it is being removed.',
      WaitingForStore: 'The data cannot be removed while the DataStore does not answer.',
      HandingOver: 'Its StewardControlPlane stays and is to keep the data for the TenantControlPlane that comes next.',
      LettingGo:
        'Its StewardControlPlane is to keep the data no more, or not after all, since it is to be left behind.',
      NotDeleting: 'The object stays.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a DataStore. */
export const dataStoreConditions = {
  Ready: {
    meaning: 'Tenants can be given a share of the store.',
    polarity: 'positive',
    reasons: {
      Ready: 'The store can be used.',
      NotReady: 'The message names the condition that keeps it from being used; tenants that run are left alone.',
      ...storeReasons,
    },
  },
  Reachable: {
    meaning: 'The store answers at its endpoints.',
    polarity: 'positive',
    reasons: { Reachable: 'The store answered.' },
  },
  Authorized: {
    meaning: 'The store accepts the credentials of the DataStore.',
    polarity: 'positive',
    reasons: { Authorized: 'The credentials were accepted.', ...storeReasons },
  },
  VersionSupported: {
    meaning: 'The store is recent enough to keep tenants apart safely.',
    polarity: 'positive',
    reasons: {
      Supported: 'The version is at or above the lowest one that is safe.',
      Unsupported: storeReasons.Unsupported,
    },
  },
  Deleting: {
    meaning: 'The object is going away.',
    polarity: 'negative',
    reasons: {
      InUse: 'TenantControlPlanes still have data here; the message names them.',
      Deleting: 'The object is being removed.',
      NotDeleting: 'The object stays.',
    },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a KubeconfigGenerator. */
export const kubeconfigGeneratorConditions = {
  Ready: {
    meaning: 'Every TenantControlPlane that is selected has its kubeconfig.',
    polarity: 'positive',
    reasons: { Ready: 'All have theirs.', NotReady: 'Some have none; `status.errors` says why.' },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

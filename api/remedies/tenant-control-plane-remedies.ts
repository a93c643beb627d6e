import { definitionOutdatedRemedies } from './definition-outdated-remedies.ts';
import { encryptionRemedies } from './encryption-remedies.ts';
import { healthy, passing, toDo } from './remedy.ts';
import type { RemediesOf } from './remedies-of.ts';
import type { tenantControlPlaneConditions } from '../steward/v1alpha1/condition-rows.ts';
import { storeRemedies } from './store-remedies.ts';

const conditions =
  'kubectl -n <namespace> get tcp <name> -o jsonpath=\'{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}\'';
const describePods = 'kubectl -n <namespace> describe pods -l steward.butlerlabs.dev/name=<name>';
const podLogs = 'kubectl -n <namespace> logs -l steward.butlerlabs.dev/name=<name> --all-containers --prefix --tail=20';
const service = 'kubectl -n <namespace> describe service <name>';
const nodePorts =
  'kubectl get services -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,NODEPORTS:.spec.ports[*].nodePort';
const routes = 'kubectl -n <namespace> get tlsroutes,gateways -o yaml';
const wake = `kubectl -n <namespace> patch tcp <name> --type merge -p '{"spec":{"controlPlane":{"deployment":{"replicas":2}}}}'`;
const wakeUp = 'kubectl steward wake <name> -n <namespace>';
const sleeping = passing(
  'Nothing, if this is intended. To wake it, set replicas above 0 if they are 0, and use kubectl steward wake otherwise. Asleep says whether and when it wakes up by itself.',
  wake,
  wakeUp,
);
const migrationJobs =
  'kubectl -n steward-system get jobs -l steward.butlerlabs.dev/component=migrate,tcp.steward.butlerlabs.dev/namespace=<namespace>,tcp.steward.butlerlabs.dev/name=<name>';
const tenantAccess = 'kubectl steward kubeconfig <name> -n <namespace>';
const inTenant = 'kubectl --context <namespace>-<name>';
const showQuota = "kubectl -n <namespace> get tcp <name> -o jsonpath='{.status.quota}'";
const migrates = passing('Wait: the message shows the progress.', migrationJobs);
const apiServerNotReady = passing('Look at ControlPlaneAvailable: this condition depends on it.', conditions);
const awaitsRestore = passing(
  'Wait, or look at the TenantRestore in the message: it says what it is waiting for, or why it failed.',
  'kubectl -n <namespace> get tenantrestores',
);
const retainedRecord = 'kubectl describe retainedcontrolplane <namespace>.<name>';

/** What to do about every reason of the conditions of a TenantControlPlane. */
export const tenantControlPlaneRemedies = {
  Ready: {
    Ready: healthy,
    Provisioning: passing(
      'Wait. Of the conditions that should be True, the first that is not says what the control plane is waiting for.',
      conditions,
    ),
    NotReady: toDo('Look at the condition that the message names first.', conditions),
    RollingOut: passing('Wait until the new pods are ready; the old ones serve meanwhile.', describePods),
    Upgrading: passing('Wait until the new pods are ready; the old ones serve meanwhile.', describePods),
    UpgradeHeld: toDo('Look at UpgradeAllowed: it says what holds the upgrade.', conditions),
    RolloutFailed: toDo('Look at UpgradeAllowed: it says why the rollout was given up.', conditions),
    Migrating: migrates,
    CertificateAuthorityRotating: passing('Wait until pods that trust the new CA are ready.', describePods),
    WriteLimited: passing('Nothing, if it is intended. To allow writes again, remove spec.writePermissions.'),
    Sleeping: sleeping,
  },
  StoreReady: {
    ...storeRemedies,
    DataStoreNotAllowed: toDo(
      'Allow the namespace in spec.allowedNamespaces of the DataStore, or name another DataStore in spec.dataStore.',
      'kubectl get datastore <datastore> -o yaml',
    ),
    DataStoreNotVerified: toDo(
      'Look at IsolationVerified of the DataStore. A first verification takes seconds; after a breach, close the hole that it names, or name another DataStore in spec.dataStore.',
      'kubectl describe datastore <datastore>',
    ),
    DataStoreNotFound: toDo(
      'Create the DataStore, or name one that exists in spec.dataStore.',
      'kubectl get datastores',
    ),
    AdoptingData: toDo(
      'Do what the message says. Without Cluster API, ask the operator to set spec.adopterUID of the RetainedControlPlane to the UID of this TenantControlPlane, or to delete the RetainedControlPlane, which removes the data. With Cluster API, Steward sets it within seconds.',
      retainedRecord,
      "kubectl -n <namespace> get tcp <name> -o jsonpath='{.metadata.uid}'",
    ),
    OverrideUnusable: toDo('Correct spec.dataStoreOverrides as the message says.', 'kubectl get datastores'),
    NoDataStoreFits: toDo(
      'Remove what rules out one of the DataStores in the message, add a DataStore, or name one in spec.dataStore.',
      'kubectl get datastores',
    ),
    PlacementPending: passing('Wait a moment: the tenancy is created next.'),
  },
  Placed: {
    Placed: healthy,
    Named: healthy,
    Drained: healthy,
    NoDataStoreFits: toDo('Look at StoreReady: it says why each DataStore was ruled out.', conditions),
  },
  EndpointReady: {
    NotExposed: toDo(
      'A Service of type LoadBalancer needs a controller that gives it an address, such as a cloud provider or MetalLB: install one, or set spec.controlPlane.service.serviceType to NodePort. A Gateway needs an address in its status.',
      service,
    ),
    KindNotInstalled: toDo('Install what the message names, or expose the control plane by a Service.'),
    RouteNotAccepted: toDo(
      'Configure a listener of the Gateway in the message to accept the route: protocol TLS with mode Passthrough, a matching port and host name, and routes allowed from the namespace.',
      routes,
    ),
    HostNameTaken: toDo('Choose another host name, or delete the control plane that has it.', 'kubectl get tcp -A'),
    NoNodeAddress: toDo(
      'Set spec.networkProfile.address to an address that leads to the nodes, or use a Service of type LoadBalancer.',
      'kubectl get nodes -o wide',
    ),
    WrongAddressFamily: toDo(
      'Use one IP family for the address and the first network in spec.networkProfile.serviceCidr: both IPv4, or both IPv6.',
    ),
    NoFreeNodePort: toDo(
      'Delete Services of type NodePort or LoadBalancer that are no longer needed, or use a Service of type ClusterIP, for example behind a Gateway.',
      nodePorts,
    ),
    ExternalIPNotAllowed: toDo(
      'Remove the external IP from the spec, or ask the operator of the manager to allow it with the flag in the message.',
    ),
    AddressInUse: toDo('Set another port in the spec, or delete the other Service that has it.', nodePorts),
  },
  CertificatesReady: {
    Rotating: passing('Wait until the new certificates are in use.'),
    WaitingForRestore: awaitsRestore,
    SecretBroken: toDo(
      'Restore the Secret that the message names from a backup. To start over with a new one, do what the message says: then every worker has to join again, and every token and kubeconfig stops working.',
      'kubectl -n <namespace> get secrets -l steward.butlerlabs.dev/name=<name>',
    ),
    NotYetValid: passing(
      'Correct the clock of the node that the manager runs on; if it is right, wait until the time in the message. Do not replace the Secret.',
    ),
    SuppliedSecretInvalid: toDo(
      'Replace the Secret that the message names: tls.crt is a CA certificate in PEM that is valid now, and tls.key is its key.',
      'kubectl -n <namespace> get secrets -l cluster.x-k8s.io/cluster-name=<cluster>',
    ),
    SecretInTheWay: toDo(
      'Delete or rename the Secret that the message names, or give the control plane another name.',
      'kubectl -n <namespace> get secrets',
    ),
  },
  KubeconfigsReady: { Rotating: passing('Wait until the new kubeconfigs are in use.') },
  ControlPlaneAvailable: {
    ...encryptionRemedies,
    WaitingForRestore: awaitsRestore,
    RollingOut: passing('Wait until the new pods are ready; the old ones serve meanwhile.', describePods),
    StartsLater: passing(
      'Wait: only a limited number of control planes start at the same time. The flag --max-starting-control-planes of the manager changes how many.',
    ),
    PodsNotReady: toDo(
      'Do what the pods report: their Events and logs say why they are not ready.',
      describePods,
      podLogs,
    ),
    PodsRefused: toDo(
      'Remove the cause of the refusal: raise the ResourceQuota, relax Pod Security of the namespace, or correct the admission webhook in the message.',
      'kubectl -n <namespace> describe replicasets -l steward.butlerlabs.dev/name=<name>',
      'kubectl -n <namespace> describe resourcequotas',
    ),
    PodSecurityViolated: toDo(
      'Remove the field that the message names, or label the namespace with a Pod Security Standard that permits it.',
      'kubectl get namespace <namespace> --show-labels',
    ),
    ArgumentsRefused: toDo(
      'Remove the arguments that the message names from spec.controlPlane.deployment.extraArgs, or ask the operator of the manager to allow them.',
    ),
    ConfigurationRefused: toDo(
      'Correct the field that the message names, or set spec.kubernetes.version to a version that supports it.',
    ),
    WebhookSecretUnusable: toDo(
      'Create or correct the Secret that the message names. It must have token, or tls.crt and tls.key, or username and password.',
      'kubectl -n <namespace> get secrets',
    ),
    StoppedForMigration: passing('Wait: the condition Migrating shows the progress.', migrationJobs),
    Sleeping: sleeping,
  },
  UpgradeAllowed: {
    MigrationInProgress: passing('Wait until the migration has ended: Migrating shows the progress.', migrationJobs),
    StoreUnhealthy: toDo(
      'Look at StoreReady: the DataStore has to work first.',
      'kubectl describe datastore <datastore>',
    ),
    KubeletsTooOld: toDo(
      'Upgrade the kubelets that the message names; the upgrade then starts within a minute. With the annotation steward.butlerlabs.dev/upgrade-anyway set to the new version, as the message says, it does not wait.',
      tenantAccess,
      `${inTenant} get nodes`,
    ),
    RemovedApisInUse: toDo(
      'Upgrade the clients that use the APIs in the message, then restart the pods of the control plane, which count these calls. With the annotation steward.butlerlabs.dev/upgrade-anyway set to the new version, as the message says, the upgrade does not wait for that.',
    ),
    ApiServerUnreachable: toDo(
      'Look at ControlPlaneAvailable. If it is True, allow connections from the manager to the pods of the control plane.',
      podLogs,
    ),
    StartsLater: passing(
      'Wait: only a limited number of control planes start new pods at the same time. The flag --max-starting-control-planes of the manager changes how many.',
    ),
    RolloutFailed: toDo(
      'Correct what the message says about the new pods; any change of the spec starts another try at once. The previous pods serve meanwhile. The new ones are gone: their Events, which are kept for an hour, say more. To try the same pods again, remove the annotation.',
      'kubectl -n <namespace> events --types=Warning',
      'kubectl -n <namespace> annotate deployment <name> steward.butlerlabs.dev/failed-rollout-',
    ),
    Sleeping: sleeping,
  },
  PodsProtected: {
    ManagementApiUnknown: toDo(
      'Create the objects that the message names, or deny those addresses with a NetworkPolicy of your own.',
      'kubectl -n default get service/kubernetes endpointslice/kubernetes',
    ),
  },
  Autoscaled: {
    Autoscaled: healthy,
    OtherAutoscaler: toDo(
      'Delete the HorizontalPodAutoscaler that the message names, or remove spec.controlPlane.deployment.autoscaling.',
      'kubectl -n <namespace> get horizontalpodautoscalers',
    ),
    MetricsUnavailable: toDo(
      'Install metrics-server in the management cluster, or repair it.',
      'kubectl -n <namespace> describe horizontalpodautoscalers',
      'kubectl get apiservice v1beta1.metrics.k8s.io',
    ),
    Sleeping: sleeping,
    NotRequested: healthy,
  },
  Asleep: {
    Scheduled: passing('Nothing, if this is intended. To wake it for this time, use kubectl steward wake.', wakeUp),
    Requested: sleeping,
    Idle: passing('Nothing, if this is intended. To use it, wake it with kubectl steward wake.', wakeUp),
    InUse: healthy,
    NotUsed: healthy,
    UseUnknown: toDo(
      'Make /metrics of the API server readable for the manager: its pods must run, and kube-apiserver must not have --enable-priority-and-fairness=false.',
      conditions,
      describePods,
    ),
    Awake: healthy,
    KeptAwake: passing(
      'Nothing, if this is intended. To let its schedules decide again, remove the annotation.',
      'kubectl -n <namespace> annotate tcp <name> steward.butlerlabs.dev/wake-until-',
    ),
    Starting: passing('Wait, or look at Ready: it says what the control plane is waiting for.', conditions),
    WorkUnderWay: passing('Wait until that has ended: it then falls asleep by itself.', conditions),
    NotRequested: healthy,
  },
  TenantConfigured: {
    ApiServerNotReady: apiServerNotReady,
    PoliciesNotServed: toDo('Upgrade the tenant to the version in the message, or remove spec.writePermissions.'),
    Sleeping: sleeping,
  },
  AddonsReady: {
    ApiServerNotReady: apiServerNotReady,
    RouteNotAccepted: toDo(
      'Configure a listener of the Gateway in the message to accept the route of the add-on: protocol TLS with mode Passthrough, and a matching port and host name.',
      routes,
    ),
    NotExposed: toDo(
      'Wait for the API server to choose a node port. If it does not, see the Events of the Service.',
      service,
    ),
    Sleeping: sleeping,
  },
  Migrating: {
    Preparing: migrates,
    Copying: migrates,
    Following: migrates,
    StoppingWrites: migrates,
    Finishing: migrates,
    Switching: migrates,
    ResumingWrites: migrates,
    Revoking: migrates,
    RollingBack: migrates,
    Succeeded: healthy,
    Cancelled: healthy,
  },
  CertificateRequestsLeft: {
    NotApproved: toDo(
      'Approve or deny the requests that the message names, in the tenant, after checking that they come from its nodes.',
      tenantAccess,
      `${inTenant} get certificatesigningrequests`,
    ),
    AllHandled: healthy,
  },
  Rotating: {
    Preparing: passing('Wait: the message says what it is waiting for.'),
    Prepared: toDo(
      'Make sure that workers, pods and users use the new CA and new tokens. Then complete the rotation: set the annotation certs.steward.butlerlabs.dev/operation to the value that the message gives.',
      conditions,
    ),
    Completing: passing('Wait until the new CAs or keys are in effect everywhere.'),
    Completed: healthy,
    Refused: toDo(
      'Correct or remove the annotation certs.steward.butlerlabs.dev/operation, as the message says.',
      'kubectl -n <namespace> annotate tcp <name> certs.steward.butlerlabs.dev/operation-',
    ),
  },
  WithinQuota: {
    WithinQuota: healthy,
    NearQuota: toDo(
      'Ask the users of the tenant to delete objects or to write less often, as the message says, or raise spec.quota.',
      showQuota,
    ),
    QuotaExceeded: toDo(
      'Ask the users of the tenant to delete objects, which is still allowed, or raise spec.quota: writes are allowed again within seconds. After too many writes a second, they are allowed again at the time in the message.',
      showQuota,
      'kubectl steward kubeconfig <name> -n <namespace>',
    ),
    NotMeasured: passing('Wait: a tenant is measured within seconds after its start.'),
    MeasurementFailed: toDo(
      'Look at the DataStore, and at the message. The quota is enforced again after the next measurement.',
      'kubectl describe datastore <datastore>',
    ),
    PoliciesNotServed: toDo('Upgrade the tenant to Kubernetes 1.30 or later, or remove spec.quota.'),
    NotRequested: healthy,
  },
  DataEncrypted: {
    ...encryptionRemedies,
    Encrypted: healthy,
    Adding: passing('Wait until all pods have the new configuration.', describePods),
    Switching: passing('Wait until all pods have the new configuration.', describePods),
    Rewriting: passing(
      'Wait until all objects have been rewritten. If the message names an object that cannot be written, fix what refuses it in the tenant, such as a webhook.',
    ),
    Retiring: passing('Wait until all pods have the new configuration.', describePods),
    NotRequested: healthy,
  },
  Paused: {
    Paused: toDo(
      'If the pause is over, remove what requests it: the annotation on this object, or spec.paused of the Cluster.',
      'kubectl -n <namespace> annotate tcp <name> steward.butlerlabs.dev/paused-',
    ),
    NotPaused: healthy,
  },
  Deleting: {
    Deleting: passing('Wait: the message says what is removed.'),
    WaitingForStore: toDo(
      'Repair the DataStore: the deletion goes on at once. Do not remove the finalizer: data and credentials of the tenant would stay. To leave the data there on purpose, set the annotation steward.butlerlabs.dev/abandon-data to true.',
      'kubectl describe datastore <datastore>',
    ),
    RetainingData: toDo('Do what the message says, so that the data can be retained.', retainedRecord),
    ReleasingData: passing('Wait until the RetainedControlPlane is deleted.', retainedRecord),
  },
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof tenantControlPlaneConditions>;

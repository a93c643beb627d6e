import { core } from '../../core/core-schema.ts';
import { addonFields } from '../../embedded/addons.ts';
import { parentReference } from '../../embedded/parent-reference.ts';
import { conditionList } from '../../embedded/condition-list.ts';
import type { Infer } from '../../schema.ts';
import { bool, described, foreign, int32, int64, list, obj, oneOf, opt, str, time } from '../../schema.ts';
import type { Schema } from '../../schema.ts';
import { credentialsRotation } from './credentials-rotation.ts';
import { drainedTenant } from './data-store-drain.ts';
import { encryptionStatus } from './encryption-status.ts';
import { quotaStatus } from './quota-status.ts';
import { sleepStatus } from './sleep/sleep-status.ts';
import { useStatus } from './sleep/use-status.ts';
import { migrationStatus, previousShares } from './migration-status.ts';

/** A time that older writers of the status may have sent as null. */
const nullableTime = (): Schema<string | null> => foreign({ ...time().openapi, nullable: true });

const checksum = opt(described(str(), 'Hash of the content.'));
const lastUpdate = opt(described(nullableTime(), 'Time at which this entry last changed.'));
const tracked = {
  lastUpdate: opt(described(nullableTime(), 'Time at which `checksum` last changed.')),
  checksum,
} as const;
const secretName = opt(described(str(), 'Name of the Secret, in the namespace of the control plane.'));
const secretStatus = obj({ secretName, ...tracked });
const aSecret = (what: string) => opt(described(secretStatus, what));
const objectStatus = obj({
  name: opt(described(str(), 'Name of the object.')),
  namespace: opt(described(str(), 'Namespace of the object. Unset for a cluster-wide object.')),
  lastUpdate,
});
const anObject = (what: string) => opt(described(objectStatus, `${what} inside the tenant.`));
const schema = described(str(), 'Prefix, schema or bucket of the tenant in the datastore.');
const user = described(str(), 'User of the tenant in the datastore.');

const placement = obj({
  dataStoreName: described(str(), 'Name of the chosen DataStore.'),
  score: described(
    int32(),
    'Score of the DataStore, at most 100. 0 or below if the DataStore is meant to be used only when no other fits.',
  ),
  reasons: opt(described(list(str()), 'Why this DataStore was chosen, and why the others were not.')),
  time: described(time(), 'Time of the choice.'),
});
/** The selection of a DataStore for a tenant whose spec names none. */
export type PlacementStatus = Infer<typeof placement>;

const overrideShare = obj({
  resource: described(str(), 'Resource as `group/resource`.'),
  dataStoreName: described(str(), 'Name of the DataStore that stores the resource.'),
  schema,
  user,
  ...tracked,
});
/** The tenancy that holds a single resource of a tenant. */
export type OverrideShare = Infer<typeof overrideShare>;

const storage = obj({
  driver: opt(described(str(), 'Driver of the DataStore that has the data.')),
  dataStoreName: opt(described(str(), 'Name of the DataStore that has the data.')),
  owner: opt(
    described(
      str(),
      'UID of the TenantControlPlane that the data was created for: this one, unless it adopted the data of a deleted one.',
    ),
  ),
  config: opt(
    described(
      obj({ secretName, checksum }),
      'Secret with the connection to the datastore and the credentials of the tenant.',
    ),
  ),
  setup: opt(
    described(
      obj({ schema: opt(schema), user: opt(user), ...tracked }),
      'Identifiers of the tenancy in the datastore. Once recorded, only a migration changes them.',
    ),
  ),
  certificate: aSecret('Secret with the client certificate for the datastore and the CA that verifies the servers.'),
  overrides: opt(
    described(
      list(overrideShare),
      'Tenancies in other datastores that hold some resource types. Recorded before they are created, and listed until they are removed.',
    ),
  ),
  overridesCertificate: opt(
    described(secretStatus, 'Secret with the client certificate that is valid for `dataStore` and all overrides.'),
  ),
  migration: opt(described(migrationStatus, 'Current or last migration to another DataStore.')),
  previous: opt(
    described(
      previousShares,
      'Copies of the data that migrations left behind. They stay until an annotation, or the drain of the DataStore, requests their removal.',
    ),
  ),
  drain: opt(
    described(
      drainedTenant,
      'Where the data is being migrated, or was migrated, because the DataStore is drained. Recorded before the migration begins.',
    ),
  ),
  placement: opt(
    described(
      placement,
      'DataStore that was selected because the spec named none. Recorded before anything is created in it.',
    ),
  ),
});

const certificates = obj({
  ca: aSecret('Secret with the cluster CA.'),
  apiServer: aSecret('Secret with the serving certificate of kube-apiserver.'),
  apiServerKubeletClient: aSecret('Secret with the client certificate with which kube-apiserver calls kubelets.'),
  frontProxyCA: aSecret('Secret with the front-proxy CA.'),
  frontProxyClient: aSecret(
    'Secret with the client certificate with which kube-apiserver calls aggregated API servers.',
  ),
  sa: aSecret('Secret with the key that signs service-account tokens.'),
  etcd: opt(
    described(
      obj({ apiServer: aSecret('Never set.'), ca: aSecret('Never set.') }),
      'Never set. Exists for older clients that read it.',
    ),
  ),
  rotation: opt(
    described(
      credentialsRotation,
      'Rotations of the CAs and of the service-account key. One operation starts a rotation, another one completes it.',
    ),
  ),
});

/** Summary of the state of a control plane. */
export const controlPlaneState = oneOf(
  'Unknown',
  'Provisioning',
  'CertificateAuthorityRotating',
  'Upgrading',
  'Migrating',
  'Ready',
  'NotReady',
  'Sleeping',
  'WriteLimited',
);
export type ControlPlaneState = Infer<typeof controlPlaneState>;

/**
 * A condition of a Deployment or Service as its controller writes it. The schema is less strict than for our own
 * conditions.
 */
const foreignCondition = obj({
  type: described(str(), 'What the condition is about, in one word.'),
  status: described(str(), 'Whether the condition is met: True, False or Unknown.'),
  reason: opt(described(str(), 'Why the condition has this status, in one word.')),
  message: opt(described(str(), 'Why the condition has this status, in a sentence.')),
  lastUpdateTime: opt(described(nullableTime(), 'Time at which the condition was last written.')),
  lastTransitionTime: opt(described(nullableTime(), 'Time at which `status` last changed.')),
  observedGeneration: opt(described(int64(), 'Generation of the object that the condition describes.')),
});

const deploymentStatus = obj({
  selector: described(str(), 'Label selector of the pods, as a string.'),
  name: described(str(), 'Name of the Deployment.'),
  namespace: described(str(), 'Namespace of the Deployment.'),
  lastUpdate,
  generation: opt(
    described(
      int64(),
      'Generation of the Deployment. Once `observedGeneration` has reached it, the counts include the newest change of the Deployment.',
    ),
  ),
  observedGeneration: opt(described(int64(), 'Generation of the Deployment that the counts describe.')),
  replicas: opt(described(int32(), 'Number of pods.')),
  updatedReplicas: opt(described(int32(), 'Number of pods with the current template.')),
  readyReplicas: opt(described(int32(), 'Number of pods whose readiness probes succeed.')),
  availableReplicas: opt(described(int32(), 'Number of pods that have been ready for `minReadySeconds`.')),
  unavailableReplicas: opt(described(int32(), 'Number of pods that are still needed for all to be available.')),
  terminatingReplicas: opt(described(int32(), 'Number of pods that are being deleted.')),
  collisionCount: opt(described(int32(), 'Number of hash collisions of ReplicaSets that the Deployment has had.')),
  conditions: opt(described(list(foreignCondition), 'Conditions of the Deployment.')),
});

const serviceStatusFields = {
  name: described(str(), 'Name of the Service.'),
  namespace: described(str(), 'Namespace of the Service.'),
  port: described(int32(), 'Port of the Service at which clients connect.'),
  loadBalancer: opt(described(core('LoadBalancerStatus'), 'Addresses of the load balancer.')),
  conditions: opt(described(list(foreignCondition), 'Conditions of the Service.')),
} as const;

const routeStatus = {
  parents: described(
    list(
      obj({
        parentRef: described(parentReference, 'Gateway and listener that the entry is about.'),
        controllerName: described(str(), 'Controller of the Gateway, which wrote the entry.'),
        conditions: opt(described(list(foreignCondition), 'Whether the Gateway has accepted the route, and why not.')),
      }),
    ),
    'What each Gateway reports about the TLSRoute.',
  ),
} as const;

const gatewayStatus = obj({
  ...routeStatus,
  routeRef: opt(
    described(
      obj({ name: opt(described(str(), 'Name of the TLSRoute.')) }),
      'The TLSRoute, in the namespace of the control plane.',
    ),
  ),
  accessPoints: opt(
    described(
      list(
        obj({
          type: described(str(), 'How the Gateway is addressed: always Hostname.'),
          value: described(str(), 'URL of the API server behind the Gateway.'),
          port: described(int32(), 'Port of the listener of the Gateway.'),
          urls: opt(described(list(str()), 'Never set. Exists for older clients that read it.')),
        }),
      ),
      'Where clients reach the API server: one entry for each Gateway that has accepted the route.',
    ),
  ),
});

const ingressPort = obj({
  port: described(int32(), 'Port at which the address is reached.'),
  protocol: described(str(), 'Transport protocol of the port.'),
  error: opt(described(str(), 'Why the port cannot be used.')),
});

const ingressPoint = obj({
  hostname: opt(described(str(), 'Host name of the load balancer.')),
  ip: opt(described(str(), 'IP address of the load balancer.')),
  ports: opt(described(list(ingressPort), 'Ports of the load balancer.')),
});

const ingressStatus = obj({
  name: described(str(), 'Name of the Ingress or IngressRouteTCP.'),
  namespace: described(str(), 'Namespace of the Ingress or IngressRouteTCP.'),
  loadBalancer: opt(
    described(
      obj({ ingress: opt(described(list(ingressPoint), 'One entry for each address.')) }),
      'Addresses that the ingress controller reports.',
    ),
  ),
});

const kubernetesResources = obj({
  version: opt(
    described(
      obj({
        version: opt(described(str(), 'Installed Kubernetes version. The wanted version is in the spec.')),
        status: opt(described(controlPlaneState, 'Summary of the state of the control plane.'), 'Provisioning'),
      }),
      'Installed version, and the state of the control plane in one word.',
    ),
  ),
  deployment: opt(
    described(deploymentStatus, 'The Deployment of the control plane, with the status that its controller writes.'),
  ),
  service: opt(described(obj(serviceStatusFields), 'The Service of the control plane.')),
  ingress: opt(described(ingressStatus, 'The Ingress or IngressRouteTCP. Unset if none exposes the control plane.')),
  gateway: opt(described(gatewayStatus, 'The TLSRoute. Unset if none exposes the control plane.')),
});

const serviceStatus = obj({ ...serviceStatusFields, lastUpdate });
const enabled = described(bool(), 'Whether the add-on is on.');

/** Whether an add-on is on, and since when. Add-ons with more to say replace it in `addonsStatus`. */
const addonStatus = opt(described(obj({ enabled, lastUpdate }), 'Whether the add-on is on, and since when.'));
const plainStatus = Object.fromEntries(Object.keys(addonFields).map((name) => [name, addonStatus])) as Readonly<
  Record<keyof typeof addonFields, typeof addonStatus>
>;

const konnectivityStatus = obj({
  enabled,
  configMap: opt(
    described(
      obj({ name: opt(described(str(), 'Name of the ConfigMap, in the namespace of the control plane.')), checksum }),
      'ConfigMap by which kube-apiserver finds the server of the tunnel.',
    ),
  ),
  certificate: aSecret('Secret with the serving certificate of the server.'),
  kubeconfig: aSecret('Secret with the kubeconfig with which the server verifies the tokens of agents.'),
  sa: anObject('ServiceAccount of the agents'),
  clusterrolebinding: anObject('ClusterRoleBinding of the server'),
  agent: opt(
    described(
      obj({
        name: opt(described(str(), 'Name of the DaemonSet or Deployment.')),
        namespace: opt(described(str(), 'Namespace of the DaemonSet or Deployment.')),
        lastUpdate,
        mode: opt(described(str(), 'Whether the agents are a DaemonSet or a Deployment.')),
        host: opt(described(str(), 'Host name or address at which agents reach the server.')),
      }),
      'The agents inside the tenant.',
    ),
  ),
  service: opt(described(serviceStatus, 'The Service at which agents reach the server: that of the control plane.')),
  gateway: opt(
    described(gatewayStatus, 'The TLSRoute to the server. Unset if a Gateway does not expose the control plane.'),
  ),
});

const addonsStatus = obj({
  ...plainStatus,
  konnectivity: opt(described(konnectivityStatus, 'Whether konnectivity is on, and what belongs to it.')),
  tcpProxy: opt(
    described(
      obj({
        enabled,
        deployment: anObject('Deployment of the proxy'),
        service: anObject('Service of the proxy'),
        serviceAccount: anObject('ServiceAccount of the proxy'),
        clusterRole: anObject('ClusterRole of the proxy'),
        clusterRoleBinding: anObject('ClusterRoleBinding of the proxy'),
      }),
      'Whether the TCP proxy is on, and what belongs to it.',
    ),
  ),
  workerBootstrap: opt(
    described(
      obj({
        enabled,
        provider: opt(described(oneOf('talos'), 'Operating system of the workers.')),
        credentials: aSecret('Secret with the CA, the certificates and the token of trustd.'),
        endpoint: opt(described(str(), 'Where workers reach trustd, as `host:port`.')),
        service: opt(described(serviceStatus, 'The Service at which workers reach trustd: that of the control plane.')),
      }),
      'Whether the bootstrap of workers is on, and what belongs to it.',
    ),
  ),
});

/** Observed state of a TenantControlPlane. */
export const tenantControlPlaneStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  storage: opt(described(storage, 'Where the data is, and by which identifiers.')),
  certificates: opt(described(certificates, 'Secrets with certificates and keys.')),
  quota: opt(
    described(quotaStatus, 'What the tenant stores and writes, and the limits of it. Absent without a quota.'),
  ),
  sleep: opt(
    described(sleepStatus, 'Whether the control plane sleeps. Absent without `spec.sleep` and its annotations.'),
  ),
  use: opt(described(useStatus, 'Whether the control plane is used. Absent without `spec.sleep.afterIdle`.')),
  encryption: opt(
    described(encryptionStatus, 'Encryption of the data in the datastore. The keys are stored only in a Secret.'),
  ),
  kubeconfig: opt(
    described(
      obj({
        admin: aSecret('Secret with the kubeconfigs of administrators of the tenant.'),
        controllerManager: aSecret('Secret with the kubeconfig of kube-controller-manager.'),
        scheduler: aSecret('Secret with the kubeconfig of kube-scheduler.'),
      }),
      'Secrets with kubeconfigs.',
    ),
  ),
  kubernetesResources: opt(
    described(kubernetesResources, 'Objects that run and expose the control plane, in its namespace.'),
  ),
  kubeadmconfig: opt(
    described(
      obj({
        configmapName: opt(described(str(), 'Name of the ConfigMap, in the namespace of the control plane.')),
        ...tracked,
      }),
      'ConfigMap with the configuration of kubeadm.',
    ),
  ),
  kubeadmPhase: opt(
    described(
      obj({
        bootstrapToken: described(
          obj(tracked),
          'The ConfigMap `kube-public/cluster-info` in the tenant, by which joining nodes find and verify the API server.',
        ),
      }),
      'What Steward did inside the tenant in place of a phase of `kubeadm init`.',
    ),
  ),
  controlPlaneEndpoint: opt(described(str(), 'Endpoint of the API server, as `host:port`.')),
  addons: opt(described(addonsStatus, 'State of each add-on.')),
});
export type TenantControlPlaneStatus = Infer<typeof tenantControlPlaneStatus>;

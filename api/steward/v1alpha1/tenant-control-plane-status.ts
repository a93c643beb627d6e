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
import { migrationStatus, previousShares } from './migration-status.ts';

/** A time that older writers of the status may have sent as null. */
const nullableTime = (): Schema<string | null> => foreign({ ...time().openapi, nullable: true });

const tracked = { lastUpdate: opt(nullableTime()), checksum: opt(str()) } as const;
const secretStatus = obj({ secretName: opt(str()), ...tracked });
const objectStatus = obj({ name: opt(str()), namespace: opt(str()), lastUpdate: opt(nullableTime()) });

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
  schema: str(),
  user: str(),
  ...tracked,
});
/** The tenancy that holds a single resource of a tenant. */
export type OverrideShare = Infer<typeof overrideShare>;

const storage = obj({
  driver: opt(str()),
  dataStoreName: opt(str()),
  owner: opt(
    described(
      str(),
      'UID of the TenantControlPlane that the data was created for: this one, unless it adopted the data of a deleted one.',
    ),
  ),
  config: opt(obj({ secretName: opt(str()), checksum: opt(str()) })),
  setup: opt(
    described(
      obj({ schema: opt(str()), user: opt(str()), ...tracked }),
      'Identifiers of the tenancy in the datastore. Once recorded, only a migration changes them.',
    ),
  ),
  certificate: opt(secretStatus),
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
      'Where the data is migrated, or was migrated, because the DataStore is drained. Recorded before the migration begins.',
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
  ca: opt(secretStatus),
  apiServer: opt(secretStatus),
  apiServerKubeletClient: opt(secretStatus),
  frontProxyCA: opt(secretStatus),
  frontProxyClient: opt(secretStatus),
  sa: opt(secretStatus),
  etcd: opt(obj({ apiServer: opt(secretStatus), ca: opt(secretStatus) })),
  rotation: opt(described(credentialsRotation, 'Rotations of the CAs and of the service-account key, in two phases.')),
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
  type: str(),
  status: str(),
  reason: opt(str()),
  message: opt(str()),
  lastUpdateTime: opt(nullableTime()),
  lastTransitionTime: opt(nullableTime()),
  observedGeneration: opt(int64()),
});

const deploymentStatus = obj({
  selector: described(str(), 'Label selector of the pods, as a string.'),
  name: str(),
  namespace: str(),
  lastUpdate: opt(nullableTime()),
  generation: opt(
    described(
      int64(),
      'Generation of the Deployment. Once `observedGeneration` has reached it, the counts include the newest change of the Deployment.',
    ),
  ),
  observedGeneration: opt(int64()),
  replicas: opt(int32()),
  updatedReplicas: opt(int32()),
  readyReplicas: opt(int32()),
  availableReplicas: opt(int32()),
  unavailableReplicas: opt(int32()),
  terminatingReplicas: opt(int32()),
  collisionCount: opt(int32()),
  conditions: opt(list(foreignCondition)),
});

const serviceStatusFields = {
  name: str(),
  namespace: str(),
  port: described(int32(), 'Port of the first entry of the Service.'),
  loadBalancer: opt(core('LoadBalancerStatus')),
  conditions: opt(list(foreignCondition)),
} as const;

const routeStatus = {
  parents: list(
    obj({
      parentRef: parentReference,
      controllerName: str(),
      conditions: opt(list(foreignCondition)),
    }),
  ),
} as const;

const gatewayStatus = obj({
  ...routeStatus,
  routeRef: opt(obj({ name: opt(str()) })),
  accessPoints: opt(
    list(
      obj({
        type: str(),
        value: str(),
        port: int32(),
        urls: opt(list(str())),
      }),
    ),
  ),
});

const kubernetesResources = obj({
  version: opt(
    obj({
      version: opt(described(str(), 'Installed Kubernetes version. The wanted version is in the spec.')),
      status: opt(described(controlPlaneState, 'Summary of the state of the control plane.'), 'Provisioning'),
    }),
  ),
  deployment: opt(deploymentStatus),
  service: opt(obj(serviceStatusFields)),
  ingress: opt(
    obj({
      name: str(),
      namespace: str(),
      loadBalancer: opt(
        obj({
          ingress: opt(
            list(
              obj({
                hostname: opt(str()),
                ip: opt(str()),
                ports: opt(list(obj({ port: int32(), protocol: str(), error: opt(str()) }))),
              }),
            ),
          ),
        }),
      ),
    }),
  ),
  gateway: opt(gatewayStatus),
});

const serviceStatus = obj({ ...serviceStatusFields, lastUpdate: opt(nullableTime()) });

/** Whether an add-on is on, and since when. Add-ons with more to say replace it in `addonsStatus`. */
const addonStatus = opt(obj({ enabled: bool(), lastUpdate: opt(nullableTime()) }));
const plainStatus = Object.fromEntries(Object.keys(addonFields).map((name) => [name, addonStatus])) as Readonly<
  Record<keyof typeof addonFields, typeof addonStatus>
>;

const konnectivityStatus = obj({
  enabled: bool(),
  configMap: opt(obj({ name: opt(str()), checksum: opt(str()) })),
  certificate: opt(secretStatus),
  kubeconfig: opt(secretStatus),
  sa: opt(objectStatus),
  clusterrolebinding: opt(objectStatus),
  agent: opt(
    obj({
      name: opt(str()),
      namespace: opt(str()),
      lastUpdate: opt(nullableTime()),
      mode: opt(str()),
      host: opt(described(str(), 'Host name or address at which agents reach the server.')),
    }),
  ),
  service: opt(serviceStatus),
  gateway: opt(gatewayStatus),
});

const addonsStatus = obj({
  ...plainStatus,
  konnectivity: opt(konnectivityStatus),
  tcpProxy: opt(
    obj({
      enabled: bool(),
      deployment: opt(objectStatus),
      service: opt(objectStatus),
      serviceAccount: opt(objectStatus),
      clusterRole: opt(objectStatus),
      clusterRoleBinding: opt(objectStatus),
    }),
  ),
  workerBootstrap: opt(
    obj({
      enabled: bool(),
      provider: opt(oneOf('talos')),
      credentials: opt(secretStatus),
      endpoint: opt(str()),
      service: opt(serviceStatus),
    }),
  ),
});

/** Observed state of a TenantControlPlane. */
export const tenantControlPlaneStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  storage: opt(storage),
  certificates: opt(certificates),
  encryption: opt(
    described(encryptionStatus, 'Encryption of the data in the datastore. The keys are stored only in a Secret.'),
  ),
  kubeconfig: opt(
    obj({
      admin: opt(secretStatus),
      controllerManager: opt(secretStatus),
      scheduler: opt(secretStatus),
    }),
  ),
  kubernetesResources: opt(kubernetesResources),
  kubeadmconfig: opt(obj({ configmapName: opt(str()), ...tracked })),
  kubeadmPhase: opt(obj({ bootstrapToken: obj(tracked) })),
  controlPlaneEndpoint: opt(described(str(), 'Endpoint of the API server, as `host:port`.')),
  addons: opt(addonsStatus),
});
export type TenantControlPlaneStatus = Infer<typeof tenantControlPlaneStatus>;

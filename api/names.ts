/**
 * Every label, annotation, finalizer, object, container, volume and port name of the project. They must not change:
 * users' scripts, Cluster API and existing installations depend on them.
 */

const domain = 'steward.butlerlabs.dev';

/** API group of the kinds for tenants. */
export const stewardGroup = domain;

/** API group of control planes in Cluster API. */
export const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

export const labels = {
  /** `steward` on every object that Steward creates, also inside tenants. */
  project: `${domain}/project`,
  /** Name of the TenantControlPlane. Also selects its pods. */
  name: `${domain}/name`,
  /** The part of a control plane that the object implements. */
  component: `${domain}/component`,
  /** `x509` or `kubeconfig` on Secrets whose expiry is monitored. */
  certificateLifecycle: `${domain}/certificate_lifecycle_controller`,
  /** Name of the KubeconfigGenerator that created a Secret. */
  managedBy: `${domain}/managed-by`,
  /** Name of the TenantControlPlane that a generated Secret is for. */
  managedFor: `${domain}/managed-for`,
  /** `true` on Secrets that a DataStore references: a webhook validates their deletion. */
  dataStoreCredentials: `${domain}/datastore-credentials`,
  /** On a StatefulSet that runs the servers of a DataStore: the name of that. A webhook validates changes of its image. */
  dataStoreServers: `${domain}/datastore`,
  /** UID of the owner of an apply set. */
  owner: `${domain}/owner`,
  /** `kubeconfig` or `ca` on the Secrets that Cluster API reads. */
  secret: `${domain}/secret`,
  /** Name of the Cluster API Cluster. */
  cluster: `${domain}/cluster`,
  /** Name of the TenantControlPlane behind a StewardControlPlane. */
  tcp: `${domain}/tcp`,
  /** On the Job of a migration, and on the process of a backup or restore: name of its TenantControlPlane. */
  migrationTenant: `tcp.${domain}/name`,
  /** On the Job of a migration, and on the process of a backup or restore: namespace of its TenantControlPlane. */
  migrationNamespace: `tcp.${domain}/namespace`,
  /** On the process of a backup or restore: UID of the object that it works for. */
  backupOwner: `backup.${domain}/owner`,
  /** `true` on the Leases of managers that share the objects. */
  shard: `${domain}/shard`,
  /** On a TenantControlPlane: name of the ControlPlanePool that created it. */
  pool: `${domain}/pool`,
  /** On a TenantControlPlane: hash of the template that a ControlPlanePool created it from. */
  templateHash: `${domain}/template-hash`,
  /** On a TenantControlPlane and on the Secret of a kubeconfig: UID of the ControlPlaneClaim that they belong to. */
  claimedBy: `${domain}/claimed-by`,
} as const;

/** Value of `labels.project`. */
export const project = 'steward';

/** On pods: checksum of the Secret that the label names. A change rolls the pods. */
export const componentChecksumLabel = (component: string): string => `component.${domain}/${component}`;

export const annotations = {
  /** On the Lease of a manager that shares the objects with others: what it may be working on, as JSON. */
  shardClaim: `${domain}/shard-claim`,
  /** On a Lease of managers that share the tenants: DataStores that they have chosen lately, as JSON. */
  chosenDataStores: `${domain}/chosen-datastores`,
  /** Lower-case hex MD5 of the data values of the object, in key order. */
  checksum: `${domain}/checksum`,
  /** On Secrets: RFC 3339 time at which the first certificate in it expires. */
  certificateExpiry: `certs.${domain}/expires`,
  /** An empty value rotates immediately. Afterwards, the RFC 3339 time of the rotation. */
  rotate: `certs.${domain}/rotate`,
  /** On a TenantControlPlane: requested operation on its CAs and keys, such as `rotate-ca-start`. */
  operation: `certs.${domain}/operation`,
  /** On pods in a tenant: time from which every CA in use is trusted. A change makes them reload the CAs. */
  trustedSince: `certs.${domain}/trusted-since`,
  /** Pauses reconciliation, with any value. */
  paused: `${domain}/paused`,
  /** On a StewardControlPlane, with any value: the endpoint is not written to its infrastructure cluster. */
  skipInfrastructure: `${domain}/skip-infrastructure`,
  /** On a TenantControlPlane: key of the admin kubeconfig Secret that the manager uses. */
  kubeconfigSecretKey: `${domain}/kubeconfig-secret-key`,
  /** On a TenantControlPlane: `failed` if reconciliation inside the tenant could not start. */
  soot: `${domain}/soot`,
  /** On a TenantControlPlane: `true` removes what an aborted migration left in the target. */
  cleanupPriorMigration: `${domain}/cleanup-prior-migration`,
  /** On a TenantControlPlane: maximum duration of a migration, as a Go duration. */
  migrationTimeout: `${domain}/migration-timeout`,
  /** On a TenantControlPlane: minimum time for which Migrating is shown, as a Go duration. */
  migrationMinimumHold: `${domain}/migration-minimum-hold`,
  /** On a TenantControlPlane: a new value retries a failed migration. */
  retryMigration: `${domain}/retry-migration`,
  /** On a TenantControlPlane: Kubernetes version to which it is upgraded regardless of the preflight. */
  upgradeAnyway: `${domain}/upgrade-anyway`,
  /** On a StewardControlPlane or its Cluster: version to which it is upgraded before its ClusterAddon is complete. */
  upgradeBeforeAddons: `${domain}/upgrade-before-addons`,
  /** On a TenantControlPlane: name of the DataStore whose previous copy of the data is to be removed. */
  removePreviousData: `${domain}/remove-previous-data`,
  /** On the Job of a migration: start of the migration, which distinguishes it from earlier ones. */
  migrationStarted: `migration.${domain}/started`,
  /** On the Job of a migration: state of its process, as JSON that outlives the process. */
  migrationJournal: `migration.${domain}/journal`,
  /** On the Job of a migration: progress of its process, as JSON. */
  migrationProgress: `migration.${domain}/progress`,
  /** On the Job of a migration: why its process has given up. */
  migrationFailure: `migration.${domain}/failure`,
  /** On the Job of a migration: error with which the last process ended, although it is retried. */
  migrationProblem: `migration.${domain}/problem`,
  /** On the Job of a migration: set while its process requests read-only mode, with a new value for each request. */
  migrationFreezeWanted: `migration.${domain}/freeze-wanted`,
  /** On the Job of a migration: the request that is in force, so every API server of the tenant denies writes. */
  migrationFreezeInForce: `migration.${domain}/freeze-in-force`,
  /** On the Job of a migration: why its process must roll back. */
  migrationCancel: `migration.${domain}/cancel`,
  /** On the process of a backup or restore: the object that it works for, as `namespace/name`. */
  backupOwner: `backup.${domain}/owner`,
  /** On a DataStore: `namespace/name=schema, …` lets these TenantControlPlanes adopt schemas without an owner. */
  adoptSchema: `${domain}/adopt-schema`,
  /**
   * On a TenantControlPlane: with `Retain`, its deletion leaves data, Service, CAs and keys to a RetainedControlPlane of its
   * name. Without it, or with `Delete`, its deletion removes them.
   */
  deletionPolicy: `${domain}/deletion-policy`,
  /**
   * On a TenantControlPlane or RetainedControlPlane: while `true`, its deletion leaves the data in the datastore, without a
   * new owner.
   */
  abandonData: `${domain}/abandon-data`,
  /**
   * On a TenantControlPlane: `true` permits its deletion although its StewardControlPlane stays and recreates it on the
   * same data.
   */
  deleteAnyway: `${domain}/delete-anyway`,
  /**
   * On a control plane that `kubectl steward import` takes over: what must not change, as JSON. It is removed with the last
   * step.
   */
  importRecord: `import.${domain}/record`,
  /** On a Deployment of a manager that an import has stopped: its number of pods before. */
  importReplicas: `import.${domain}/replicas`,
  /** On a TenantControlPlane or StewardControlPlane: number of pods before `kubectl steward sleep`, to which `wake` returns. */
  replicasBeforeSleep: `${domain}/replicas-before-sleep`,
  /** On a TenantControlPlane or StewardControlPlane: RFC 3339 time until which neither its schedules nor `afterIdle` put it to sleep. */
  wakeUntil: `${domain}/wake-until`,
  /** On a TenantControlPlane or StewardControlPlane: RFC 3339 time until which it sleeps, unless `wakeUntil` says otherwise. */
  sleepUntil: `${domain}/sleep-until`,
  /** On a TenantControlPlane below a Cluster: version to which the topology of the Cluster upgrades it, for which it has to be awake. */
  clusterUpgrade: `${domain}/cluster-upgrade`,
  /**
   * On the EndpointSlice that leads calls of a tenant to the activator: the addresses of the tenant's nodes, whose calls do not wake it up,
   * separated by commas.
   */
  nodeAddresses: `${domain}/node-addresses`,
  /** On the EndpointSlice of a tenant that leads to the activator: `true` passes calls on as soon as the API server of a pod is ready. */
  passedEarly: `${domain}/passed-early`,
  /** On a TenantControlPlane that a restore has woken up or completed: the moment as of which it was restored, and the UID of the TenantRestore. */
  restored: `backup.${domain}/restored`,
  /** On a TenantControlPlane: name of the TenantRestore that gives it CAs, keys and data. Until `restored` is set, it has no others. */
  awaitsRestore: `backup.${domain}/awaits-restore`,
  /** On a Deployment: checksum of the extra arguments of kube-apiserver. */
  apiServerArgs: `kube-apiserver.${domain}/args`,
  /** On a Deployment whose old pods are kept: since when, and a checksum of the template that is rolled out. */
  rollout: `${domain}/rollout`,
  /** On a Deployment that returned to its old pods: when, a checksum of the template that failed, and why. */
  failedRollout: `${domain}/failed-rollout`,
  /** On pods behind a StewardControlPlane: time after which they were to be replaced. */
  rolloutAfter: `${domain}/rollout-after`,
  /** On pods: checksum of the datastore-config Secret. */
  storageConfig: `storage.${domain}/config`,
  /** On a TenantControlPlane in another cluster: hash of the secret that its StewardControlPlane holds. */
  externalClaim: `external.${domain}/claim`,
  /** On a TenantControlPlane in another cluster: UID of the StewardControlPlane that manages it. */
  externalHolder: `external.${domain}/holder`,
  /**
   * On a StewardControlPlane: `true` completes its deletion even if its TenantControlPlane may stay in another cluster.
   */
  abandonExternal: `external.${domain}/abandon`,
  /** On a StewardControlPlane and its Secret or TenantControlPlane: identifiers of the tenancy, recorded once. */
  tenancy: `storage.${domain}/tenancy`,
} as const;

export const finalizers = {
  /** On a TenantControlPlane: its data in the datastore must be removed. */
  dataStore: `finalizer.${domain}`,
  /** On a TenantControlPlane: reconciliation inside the tenant must be stopped. */
  soot: `finalizer.${domain}/soot`,
  /** On `<tcp>-datastore-config`: the credentials must outlive the clean-up of the datastore. */
  dataStoreSecret: `finalizer.${domain}/datastore-secret`,
  /** On a RetainedControlPlane: its data in the datastore must be removed unless it was adopted. */
  retained: `finalizer.${domain}/retained-data`,
  /** On a DataStore: TenantControlPlanes use it. */
  dataStoreInUse: `finalizer.${domain}/datastore-in-use`,
  /** On a BackupPolicy or TenantBackup: its process must end, and its backups be removed if it says so. */
  backup: `finalizer.${domain}/backup`,
  /** On a ControlPlanePool: the control planes that nobody has claimed must be removed. */
  pool: `finalizer.${domain}/pool`,
  /** On a ControlPlaneClaim: its control plane must be deleted or retained. */
  claim: `finalizer.${domain}/claim`,
  /** On a KubeconfigGenerator: its Secrets must be removed. */
  kubeconfigGenerator: `finalizer.${domain}/kubeconfig-generator`,
  /** On a StewardControlPlane: its TenantControlPlane must be deleted first. */
  controlPlane: `controlplane.${domain}/finalizer`,
  /** Set by the Go provider on a StewardControlPlane whose TenantControlPlane is in another cluster. */
  externalCluster: `ecr.${domain}/finalizer`,
} as const;

/** Names of the objects of one TenantControlPlane in its namespace. */
export interface TenantObjectNames {
  readonly deployment: string;
  readonly service: string;
  readonly podDisruptionBudget: string;
  readonly horizontalPodAutoscaler: string;
  readonly networkPolicy: string;
  readonly ingress: string;
  readonly tlsRoute: string;
  readonly kubeadmConfig: string;
  readonly ca: string;
  readonly frontProxyCa: string;
  readonly serviceAccount: string;
  readonly apiServer: string;
  readonly apiServerKubeletClient: string;
  readonly frontProxyClient: string;
  readonly adminKubeconfig: string;
  readonly controllerManagerKubeconfig: string;
  readonly schedulerKubeconfig: string;
  readonly dataStoreConfig: string;
  readonly dataStoreCertificate: string;
  readonly dataStoreOverridesCertificate: string;
  readonly konnectivityEgress: string;
  readonly konnectivityCertificate: string;
  readonly konnectivityKubeconfig: string;
  readonly konnectivityRoute: string;
  readonly trustdCredentials: string;
  readonly trustdRoute: string;
  readonly tcpProxyCertificate: string;
  readonly encryption: string;
  readonly monitoringCertificate: string;
  readonly podMonitor: string;
}

/** Names of the objects of the TenantControlPlane `tcp`, all in its namespace. */
export function tenantObjects(tcp: string): TenantObjectNames {
  return {
    deployment: tcp,
    service: tcp,
    podDisruptionBudget: tcp,
    horizontalPodAutoscaler: tcp,
    networkPolicy: tcp,
    ingress: tcp,
    tlsRoute: tcp,
    kubeadmConfig: `${tcp}-kubeadmconfig`,
    ca: `${tcp}-ca`,
    frontProxyCa: `${tcp}-front-proxy-ca-certificate`,
    serviceAccount: `${tcp}-sa-certificate`,
    apiServer: `${tcp}-api-server-certificate`,
    apiServerKubeletClient: `${tcp}-api-server-kubelet-client-certificate`,
    frontProxyClient: `${tcp}-front-proxy-client-certificate`,
    adminKubeconfig: `${tcp}-admin-kubeconfig`,
    controllerManagerKubeconfig: `${tcp}-controller-manager-kubeconfig`,
    schedulerKubeconfig: `${tcp}-scheduler-kubeconfig`,
    dataStoreConfig: `${tcp}-datastore-config`,
    dataStoreCertificate: `${tcp}-datastore-certificate`,
    dataStoreOverridesCertificate: `${tcp}-datastore-overrides-certificate`,
    konnectivityEgress: `${tcp}-konnectivity-egress-selector-configuration`,
    konnectivityCertificate: `${tcp}-konnectivity-certificate`,
    konnectivityKubeconfig: `${tcp}-konnectivity-kubeconfig`,
    konnectivityRoute: `${tcp}-konnectivity`,
    trustdCredentials: `${tcp}-trustd-creds`,
    trustdRoute: `${tcp}-trustd`,
    tcpProxyCertificate: `${tcp}-tcp-proxy-certificate`,
    encryption: `${tcp}-encryption`,
    monitoringCertificate: `${tcp}-monitoring-certificate`,
    podMonitor: tcp,
  };
}

/** Value of the component label on the Secrets with the files that configure kube-apiserver. */
export const configurationComponent = 'kube-apiserver-configuration';

/** Name of the Secret with these files, one for each content: `sum` is a checksum of it. */
export const configurationSecret = (tcp: string, sum: string): string => `${tcp}-configuration-${sum.slice(0, 10)}`;

/** Name of the Job that migrates the data of a tenant, in the namespace of the manager. */
export const migrationJob = (tcpUid: string): string => `migrate-${tcpUid}`;

/** Value of the component label on migration Jobs. */
export const migrationComponent = 'migrate';

/** Values of the component label on the processes of backups, in the namespace of the manager. */
export const backupComponents = {
  /** The Deployment of a BackupPolicy, and the Job of a TenantBackup. */
  backup: 'backup',
  restore: 'restore',
  /** The Job that removes backups. */
  removal: 'remove-backups',
} as const;

/** Name of the process of a backup or restore that works for an object. */
export const backupProcess = (component: keyof typeof backupComponents, uid: string): string =>
  `${backupComponents[component]}-${uid}`;

/** Ports of the activator, both ends included: each tenant that wakes up with a request has one. */
export const activatorPorts = { from: 20000, to: 29999 } as const;

/** Names of the activator, in the namespace of the manager. */
export const activatorObjects = {
  /** The Service whose EndpointSlices have the addresses of its pods. */
  service: 'steward-activator',
  /** The ConfigMap that says which tenant each port is for. */
  ports: 'steward-activator-ports',
  /** The ConfigMap in which the activator requests that tenants wake up. */
  wakeRequests: 'steward-wake-requests',
} as const;

/** Value of the component label on the EndpointSlices by which calls of a sleeping tenant reach the activator. */
export const activatorComponent = 'activator';

/** Name of the policy inside a tenant that denies writes during a migration, and of its binding. */
export const freezePolicy = 'steward-freeze';

/** Name of the policy inside a tenant that implements `spec.writePermissions`, and of its binding. */
export const writePermissionsPolicy = 'steward-write-permissions';

/** Name of the policy inside a tenant that denies creations and changes while it exceeds `spec.quota`, and of its binding. */
export const quotaPolicy = 'steward-quota';

/** Name of the Secret that proves which TenantControlPlane in another cluster a StewardControlPlane owns. */
export const externalClaimSecret = (scp: string): string => `${scp}-external-claim`;

/** Name of the Secret that a KubeconfigGenerator creates for a TenantControlPlane. */
export const generatedKubeconfig = (tcp: string, generator: string): string => `${tcp}-${generator}`;

/** Name of the Secret with the kubeconfig of a ControlPlaneClaim. */
export const claimKubeconfig = (claim: string): string => `${claim}-kubeconfig`;

/** Keys in the Secrets and ConfigMaps of a TenantControlPlane. */
export const dataKeys = {
  ca: {
    certificate: 'ca.crt',
    key: 'ca.key',
    clusterApiCertificate: 'tls.crt',
    clusterApiKey: 'tls.key',
    /** All CA certificates to trust. Present from the first rotation on. */
    bundle: 'ca-bundle.crt',
    nextCertificate: 'ca-next.crt',
    nextKey: 'ca-next.key',
    previousCertificate: 'ca-previous.crt',
    previousKey: 'ca-previous.key',
  },
  frontProxyCa: {
    certificate: 'front-proxy-ca.crt',
    key: 'front-proxy-ca.key',
    bundle: 'front-proxy-ca-bundle.crt',
    nextCertificate: 'front-proxy-ca-next.crt',
    nextKey: 'front-proxy-ca-next.key',
    previousCertificate: 'front-proxy-ca-previous.crt',
    previousKey: 'front-proxy-ca-previous.key',
  },
  serviceAccount: { publicKey: 'sa.pub', key: 'sa.key', nextKey: 'sa-next.key' },
  apiServer: { certificate: 'apiserver.crt', key: 'apiserver.key' },
  apiServerKubeletClient: { certificate: 'apiserver-kubelet-client.crt', key: 'apiserver-kubelet-client.key' },
  frontProxyClient: { certificate: 'front-proxy-client.crt', key: 'front-proxy-client.key' },
  adminKubeconfig: {
    admin: 'admin.conf',
    adminService: 'admin.svc',
    superAdmin: 'super-admin.conf',
    superAdminService: 'super-admin.svc',
  },
  controllerManagerKubeconfig: 'controller-manager.conf',
  schedulerKubeconfig: 'scheduler.conf',
  dataStoreConfig: {
    connection: 'DB_CONNECTION_STRING',
    schema: 'DB_SCHEMA',
    user: 'DB_USER',
    password: 'DB_PASSWORD',
  },
  dataStoreCertificate: { ca: 'ca.crt', certificate: 'server.crt', key: 'server.key' },
  kubeadmConfig: { init: 'InitConfiguration', cluster: 'ClusterConfiguration' },
  konnectivityEgress: 'egress-selector-configuration.yaml',
  konnectivityCertificate: { certificate: 'tls.crt', key: 'tls.key' },
  konnectivityKubeconfig: 'konnectivity-server.conf',
  trustdCredentials: {
    authority: { certificate: 'os-ca.crt', key: 'os-ca.key' },
    server: { certificate: 'server.crt', key: 'server.key' },
    admin: { certificate: 'admin.crt', key: 'admin.key' },
    token: 'token',
  },
  tcpProxyCertificate: { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' },
  monitoringCertificate: { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' },
  /** The kubeconfig that a KubeconfigGenerator or a ControlPlaneClaim writes. */
  generatedKubeconfig: 'value',
} as const;

export const containers = {
  apiServer: 'kube-apiserver',
  controllerManager: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
  kine: 'kine',
  kineCertificates: 'chmod',
  konnectivity: 'konnectivity-server',
  trustd: 'steward-trustd',
} as const;

export const volumes = {
  pki: 'etc-kubernetes-pki',
  apiServerConfiguration: 'kube-apiserver-configuration',
  caCertificates: 'etc-ca-certificates',
  shareCaCertificates: 'usr-share-ca-certificates',
  localShareCaCertificates: 'usr-local-share-ca-certificates',
  schedulerKubeconfig: 'scheduler-kubeconfig',
  controllerManagerKubeconfig: 'controller-manager-kubeconfig',
  kineSocket: 'kine-uds',
  kineConfig: 'kine-config',
  kineCertificates: 'kine-certs',
  konnectivitySocket: 'konnectivity-uds',
  konnectivityEgress: 'egress-selector-configuration',
  konnectivityKubeconfig: 'konnectivity-server-kubeconfig',
  konnectivityCertificate: 'konnectivity-server-certificate',
  trustdCredentials: 'trustd-creds',
  encryption: 'steward-encryption',
  kmsSockets: 'steward-kms-sockets',
} as const;

export const ports = {
  apiServer: 'kube-apiserver',
  kine: 'server',
  konnectivity: 'konnectivity-server',
  konnectivityAgent: 'agentport',
  konnectivityAdmin: 'adminport',
  konnectivityHealth: 'healthport',
  trustdService: 'steward-trustd',
  trustd: 'grpc',
} as const;

/** Users inside a tenant that belong to its control plane. */
export const tenantUsers = {
  /** Prometheus, with a client certificate that Steward issues. */
  monitoring: 'steward-monitoring',
  /** The konnectivity server, which reviews the tokens of agents; also the audience of those tokens. */
  konnectivity: 'system:konnectivity-server',
} as const;

/**
 * FlowSchema inside a tenant that is put to sleep when nobody uses it: what matches it is no use. So is what matches another FlowSchema
 * whose name continues with a dash.
 */
export const backgroundFlowSchema = 'steward-background';

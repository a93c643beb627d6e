import type { ChartValues } from './chart-value.ts';
import { anything, count, flag, group, text, texts } from './chart-value.ts';

const resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } };
const onControlPlaneNodes = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }];
const probe = (path: string, rest: object): object => ({ httpGet: { path, port: 'healthcheck' }, ...rest });

/** The values of the chart `steward`; those of the Go Steward's chart keep their names. */
export const stewardValues: ChartValues = {
  replicaCount: count(1, 'Number of managers. One is active, the others stand by; all of them answer webhooks.', {
    minimum: 0,
  }),
  image: group('Image of the manager, of its Jobs and of the Jobs of the quick-start etcd.', {
    repository: text('ghcr.io/butlerdotdev/steward', 'Registry and repository.'),
    tag: text(
      '',
      'Tag. Defaults to the version of the chart with a leading v, and with the suffix -helm if cluster stacks are enabled.',
    ),
    digest: text('', 'Digest, as sha256:…; it takes precedence over the tag.', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
    pullPolicy: text('IfNotPresent', 'Pull policy.', { enum: ['Always', 'IfNotPresent', 'Never'] }),
  }),
  imagePullSecrets: anything([], 'Secrets with credentials for the registry: [{name: …}].'),
  nameOverride: text('', 'Replaces the name of the chart in names and labels.'),
  fullnameOverride: text('', 'Replaces the full prefix of object names.'),

  tenantControlPlanes: group('The part that runs TenantControlPlanes on DataStores.', {
    enabled: flag(true, 'Whether its controllers, webhooks and permissions are installed.'),
  }),
  clusterApi: group('The part that is a control-plane provider for Cluster API.', {
    enabled: flag(
      true,
      'Whether its controller, webhooks and permissions are installed. It is idle without Cluster API.',
    ),
    kubeadmBootstrap: group('Service account of the kubeadm bootstrap provider, which reads StewardControlPlanes.', {
      namespace: text('capi-kubeadm-bootstrap-system', 'Namespace of the service account.'),
      serviceAccount: text('capi-kubeadm-bootstrap-manager', 'Name of the service account.'),
    }),
  }),
  clusterStacks: group(
    'The optional layer of cluster stacks. It needs Cluster API with the feature gate CLUSTER_TOPOLOGY, and clusterStacks.enabled of the chart steward-crds.',
    {
      enabled: flag(
        false,
        'Whether its feature gate is enabled and its permissions and webhooks are installed. It waits for missing CustomResourceDefinitions.',
      ),
      helm: text('helm', 'Path of helm 4, or its name in $PATH. Only the image with helm has it.', { pattern: '.' }),
      furtherKinds: texts(
        'Kinds, as Kind.group, that releases may create in addition to ClusterClasses, their templates and ClusterResourceSets. Each needs a ClusterRole with the label steward.butlerlabs.dev/aggregate-to-stacks: "true".',
      ),
      cache: group('Cache of releases. Missing files are downloaded again.', {
        sizeLimit: text('2Gi', 'Size limit of the volume. A manager that exceeds it is evicted.'),
      }),
    },
  ),
  defaultDatastoreName: text(
    'default',
    'DataStore of tenants that neither name nor select one. It may be created later. If empty, one is selected for them.',
  ),
  watchNamespace: text('', 'Namespace to watch. If empty, all namespaces are watched.'),
  watchFilter: text(
    '',
    'Reconcile only StewardControlPlanes, ClusterStacks and Clusters of stacks whose label cluster.x-k8s.io/watch-filter has this value. If empty, all of them are reconciled.',
  ),
  featureGates: group('Feature gates, all disabled by default.', {
    ExternalClusterReference: flag(false, 'Whether control planes may run in other clusters.'),
    ExternalClusterReferenceCrossNamespace: flag(
      false,
      'Whether their kubeconfigs may be in other namespaces. Authors can then use the Secrets of all namespaces.',
    ),
  }),
  leaderElect: flag(
    true,
    'Whether to use leader election, so that only one manager is active at a time. Needed with more than one replica.',
  ),
  logging: group('Logging of the manager.', {
    level: text('info', 'Log level.', { enum: ['debug', 'info', 'warn', 'error'] }),
    encoder: text('json', 'Log format: one JSON object per line, or text.', { enum: ['json', 'console'] }),
  }),
  loggingDevel: group('Development mode, under its name in the Go Steward’s chart.', {
    enable: flag(false, 'Text format and debug level.'),
  }),
  extraArgs: texts('Additional flags of the manager, each as --name=value; see the reference of flags.'),
  extraEnv: anything([], 'Additional environment variables of the manager.'),
  metricsBindAddress: text(':8443', 'Address at which metrics are served; 0 disables them.'),
  healthProbeBindAddress: text(':8081', 'Address at which /healthz and /readyz are served.', { pattern: ':[0-9]+$' }),
  startupProbe: anything(probe('/readyz', { periodSeconds: 1, failureThreshold: 120 }), 'Startup probe.'),
  livenessProbe: anything(probe('/healthz', { periodSeconds: 20, timeoutSeconds: 5 }), 'Liveness probe.'),
  readinessProbe: anything(
    probe('/readyz', { periodSeconds: 5, timeoutSeconds: 5 }),
    'Readiness probe. Only ready managers get admission requests.',
  ),

  serviceAccount: group('Service account of the manager.', {
    create: flag(true, 'Whether the chart creates it.'),
    annotations: anything({}, 'Annotations of the service account.'),
    name: text('steward-controller-manager', 'Name of the service account.'),
  }),
  rbac: group('Permissions of the manager and of its Jobs.', {
    create: flag(true, 'Whether the chart creates the roles and bindings. If false, you must create them.'),
  }),
  podAnnotations: anything({}, 'Additional annotations of the manager’s pods.'),
  podLabels: anything({}, 'Additional labels of the manager’s pods.'),
  podSecurityContext: anything(
    {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    'Security context of the pod. The default meets the Pod Security Standard “restricted”.',
  ),
  securityContext: anything(
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    'Security context of the container. The default meets the Pod Security Standard “restricted”.',
  ),
  resources: anything(
    resources,
    'Resource requests and limits of the manager. Its memory grows by about 0.3 MiB per tenant.',
  ),
  priorityClassName: text('', 'PriorityClass of the manager’s pods; system-cluster-critical is a good choice.'),
  terminationGracePeriodSeconds: count(15, 'Time that a manager has to shut down.', { minimum: 0 }),
  nodeSelector: anything({}, 'Node selector of the manager.'),
  tolerations: anything(onControlPlaneNodes, 'Tolerations of the manager.'),
  affinity: anything({}, 'Affinity of the manager. If empty, replicas prefer different nodes.'),
  topologySpreadConstraints: anything(
    [],
    'Topology spread constraints of the manager. Without a labelSelector, its own pods are counted.',
  ),

  metrics: group('Metrics for Prometheus.', {
    secure: flag(
      true,
      'Whether metrics are served over TLS, to accounts that are bound to the ClusterRole steward-metrics-reader. If false, they are served over plain HTTP, to everyone.',
    ),
    service: group('Service of the metrics.', {
      enabled: flag(true, 'Whether the Service is created.'),
      port: count(8443, 'Port of the Service.', { minimum: 1 }),
      annotations: anything({}, 'Annotations of the Service.'),
    }),
  }),
  serviceMonitor: group('ServiceMonitor of the Prometheus Operator, whose CustomResourceDefinitions must exist.', {
    enabled: flag(false, 'Whether the ServiceMonitor is created.'),
    interval: text('30s', 'Interval at which metrics are scraped.'),
    labels: anything({}, 'Labels by which Prometheus selects the ServiceMonitor.'),
  }),
  podDisruptionBudget: group('PodDisruptionBudget of the manager, for two or more replicas.', {
    enabled: flag(true, 'Whether it is created.'),
    maxUnavailable: count(1, 'Number of pods that may be unavailable.', { minimum: 1 }),
  }),
  networkPolicy: group(
    'NetworkPolicy of the manager. Everyone may reach its webhooks (API servers have no labels), selected peers its metrics, and its node its probes.',
    {
      enabled: flag(true, 'Whether the NetworkPolicy is created.'),
      metricsFrom: anything(
        [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
        'Peers that may read metrics. If empty, everyone may.',
      ),
      probesFrom: anything(
        [],
        'Peers that may reach the probes. Only needed if the network plugin does not admit the node.',
      ),
    },
  ),

  etcd: group('The quick-start etcd and its DataStore. For production, see the guide on etcd.', {
    enabled: flag(true, 'Whether they are installed.'),
    dataStoreName: text('default', 'Name of the DataStore. Like the volumes, it outlives the release.'),
    members: count(1, 'Number of members: 1 or 3. It cannot be changed after the first start.', { minimum: 1 }),
    image: text('registry.k8s.io/etcd:3.6.16-0', 'Image; 3.6.14 (3.7.1) is the oldest version that tenants may share.'),
    clusterDomain: text('cluster.local', 'DNS domain of the management cluster.'),
    storage: text(
      '8Gi',
      'Size of each volume. The storage quota of etcd is 4 GiB, so 8Gi leaves room for snapshots and logs.',
    ),
    storageClassName: text('', 'StorageClass of the volumes. If empty, the default of the cluster.'),
    resources: anything({ requests: { cpu: '100m', memory: '128Mi' } }, 'Resource requests and limits of each member.'),
    nodeSelector: anything({}, 'Node selector of the members.'),
    tolerations: anything(onControlPlaneNodes, 'Tolerations of the members.'),
    priorityClassName: text('', 'PriorityClass of the members.'),
  }),

  'steward-etcd': anything(
    {},
    'Accepted for compatibility with the Go Steward: deploy: false means etcd.enabled: false. Everything else in it has no effect.',
  ),
  temporaryDirectoryPath: text(
    '',
    'Accepted for compatibility with the Go Steward, without effect: nothing is written to disk.',
  ),
  telemetry: anything({}, 'Accepted for compatibility with the Go Steward, without effect: there is no telemetry.'),
  kubeconfigGenerator: anything(
    {},
    'Accepted for compatibility with the Go Steward, without effect: the manager serves KubeconfigGenerators itself.',
  ),
};

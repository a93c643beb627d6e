import type { ChartValues } from './chart-value.ts';
import { anything, count, flag, group, text, texts } from './chart-value.ts';

const resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } };
const onControlPlaneNodes = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }];
const probe = (path: string, rest: object): object => ({ httpGet: { path, port: 'healthcheck' }, ...rest });

/** The values of the chart `steward`; those of the Go Steward's chart keep their names. */
export const stewardValues: ChartValues = {
  replicaCount: count(1, 'Managers. One works at a time, the others stand by; all of them answer webhooks.', {
    minimum: 0,
  }),
  image: group('The image of the manager, of its Jobs and of the quick-start etcd’s Jobs.', {
    repository: text('ghcr.io/butlerdotdev/steward', 'Registry and path.'),
    tag: text(
      '',
      'Tag; empty: the version of the chart with a v before it, and -helm after it where cluster stacks are switched on.',
    ),
    digest: text('', 'sha256:… of the image; it wins over the tag.', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
    pullPolicy: text('IfNotPresent', 'When nodes fetch it.', { enum: ['Always', 'IfNotPresent', 'Never'] }),
  }),
  imagePullSecrets: anything([], 'Secrets with credentials of the registry: [{name: …}].'),
  nameOverride: text('', 'Replaces the name of the chart in names and labels.'),
  fullnameOverride: text('', 'Replaces the whole name that objects begin with.'),

  tenantControlPlanes: group('The half that runs TenantControlPlanes on DataStores.', {
    enabled: flag(true, 'Whether its controllers, webhooks and rights are there.'),
  }),
  clusterApi: group('The half that is a control-plane provider of Cluster API.', {
    enabled: flag(
      true,
      'Whether its controller, webhooks and rights are there. It is at rest where there is no Cluster API.',
    ),
    kubeadmBootstrap: group(
      'The service account of the kubeadm bootstrap provider, which reads StewardControlPlanes.',
      {
        namespace: text('capi-kubeadm-bootstrap-system', 'Its namespace.'),
        serviceAccount: text('capi-kubeadm-bootstrap-manager', 'Its name.'),
      },
    ),
  }),
  clusterStacks: group(
    'The optional layer of cluster stacks, for Cluster API with the gate CLUSTER_TOPOLOGY; clusterStacks.enabled of the chart steward-crds goes first.',
    {
      enabled: flag(
        false,
        'Whether its feature gate is on, and its rights and webhooks are there. What is missing of definitions is waited for.',
      ),
      helm: text('helm', 'Path of helm 4, or its name in $PATH; the image with helm has it.', { pattern: '.' }),
      furtherKinds: texts(
        'Kind.group of what releases may make beside ClusterClasses, their templates and ClusterResourceSets; each needs a ClusterRole with the label steward.butlerlabs.dev/aggregate-to-stacks: "true".',
      ),
      cache: group('Where releases are kept; what is lost is fetched again.', {
        sizeLimit: text('2Gi', 'Size of the volume: a manager that takes more is evicted by its node.'),
      }),
    },
  ),
  defaultDatastoreName: text(
    'default',
    'DataStore of tenants that neither name nor select one; it may be created later. Empty: one is chosen for them.',
  ),
  watchNamespace: text('', 'The only namespace that is looked at; empty: all of them.'),
  watchFilter: text(
    '',
    'Only StewardControlPlanes, ClusterStacks and Clusters of stacks whose label cluster.x-k8s.io/watch-filter has this value; empty: all.',
  ),
  featureGates: group('What is off unless it is asked for.', {
    ExternalClusterReference: flag(false, 'Whether control planes may run in other clusters.'),
    ExternalClusterReferenceCrossNamespace: flag(
      false,
      'Whether their kubeconfigs may be in other namespaces: authors then use the Secrets of all namespaces.',
    ),
  }),
  leaderElect: flag(true, 'Only one manager works at a time. Needed with more than one replica.'),
  logging: group('What the manager tells.', {
    level: text('info', 'The least that is told.', { enum: ['debug', 'info', 'warn', 'error'] }),
    encoder: text('json', 'One JSON object a line, or text for people.', { enum: ['json', 'console'] }),
  }),
  loggingDevel: group('The Go Steward’s name for debugging.', {
    enable: flag(false, 'Text for people, at level debug.'),
  }),
  extraArgs: texts('More flags of the manager, --name=value each; see the reference of flags.'),
  extraEnv: anything([], 'More environment variables of the manager.'),
  metricsBindAddress: text(':8443', 'Where metrics are served; 0 switches them off.'),
  healthProbeBindAddress: text(':8081', 'Where /healthz and /readyz are served.', { pattern: ':[0-9]+$' }),
  startupProbe: anything(
    probe('/readyz', { periodSeconds: 1, failureThreshold: 120 }),
    'How Kubernetes learns that the manager has started.',
  ),
  livenessProbe: anything(probe('/healthz', { periodSeconds: 20, timeoutSeconds: 5 }), 'When it is restarted.'),
  readinessProbe: anything(
    probe('/readyz', { periodSeconds: 5, timeoutSeconds: 5 }),
    'When it is asked about admissions.',
  ),

  serviceAccount: group('The account that the manager runs as.', {
    create: flag(true, 'Whether the chart makes it.'),
    annotations: anything({}, 'Annotations of it.'),
    name: text('steward-controller-manager', 'Its name.'),
  }),
  rbac: group('Rights of the manager and of its Jobs.', {
    create: flag(true, 'Whether the chart makes roles and bindings; without them somebody else has to.'),
  }),
  podAnnotations: anything({}, 'More annotations of the manager’s pods.'),
  podLabels: anything({}, 'More labels of the manager’s pods.'),
  podSecurityContext: anything(
    {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    'Of the pod; the default satisfies Pod Security “restricted”.',
  ),
  securityContext: anything(
    { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    'Of the container; the default satisfies Pod Security “restricted”.',
  ),
  resources: anything(resources, 'What the manager asks for and may take. Its memory grows by about 0.3 MiB a tenant.'),
  priorityClassName: text('', 'PriorityClass of the manager’s pods; system-cluster-critical is a good choice.'),
  terminationGracePeriodSeconds: count(15, 'What a manager gets to finish when it is asked to end.', { minimum: 0 }),
  nodeSelector: anything({}, 'Labels of nodes that it may run on.'),
  tolerations: anything(onControlPlaneNodes, 'Taints of nodes that it bears.'),
  affinity: anything({}, 'Where else it may run; empty: replicas rather on different nodes.'),
  topologySpreadConstraints: anything(
    [],
    'How replicas are spread; without a labelSelector the manager’s own pods are counted.',
  ),

  metrics: group('What Prometheus reads.', {
    secure: flag(
      true,
      'Whether they are served over TLS, to accounts that are bound to the ClusterRole steward-metrics-reader; false: plain, to everybody.',
    ),
    service: group('The Service for it.', {
      enabled: flag(true, 'Whether it is there.'),
      port: count(8443, 'Its port.', { minimum: 1 }),
      annotations: anything({}, 'Annotations of it.'),
    }),
  }),
  serviceMonitor: group('A ServiceMonitor of the Prometheus operator, whose definitions must be there.', {
    enabled: flag(false, 'Whether it is there.'),
    interval: text('30s', 'How often metrics are read.'),
    labels: anything({}, 'Labels by which a Prometheus selects it.'),
  }),
  podDisruptionBudget: group('What guards replicas from evictions; made for two replicas and more.', {
    enabled: flag(true, 'Whether it is made.'),
    maxUnavailable: count(1, 'How many may be away.', { minimum: 1 }),
  }),
  networkPolicy: group(
    'Who may call the manager: anybody its webhooks (API servers have no labels), some its metrics, its node its probes.',
    {
      enabled: flag(true, 'Whether it is there.'),
      metricsFrom: anything(
        [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
        'Peers that may read metrics; empty: anybody.',
      ),
      probesFrom: anything(
        [],
        'Peers that may ask for health; a network plugin that does not let the node in needs them.',
      ),
    },
  ),

  etcd: group('The quick-start etcd and the DataStore that leads to it. For production see the guide on etcd.', {
    enabled: flag(true, 'Whether they are there.'),
    dataStoreName: text('default', 'Name of the DataStore. It outlives the release, as the volumes do.'),
    members: count(1, 'Members: 1 or 3. To be chosen before the first start; a running etcd does not grow by this.', {
      minimum: 1,
    }),
    image: text('registry.k8s.io/etcd:3.6.16-0', 'Its image; 3.6.14 (3.7.1) is the oldest that tenants may share.'),
    clusterDomain: text('cluster.local', 'DNS domain of the management cluster.'),
    storage: text(
      '8Gi',
      'Size of each volume; the quota of the data is 4 GiB, so 8Gi leaves room for snapshots and logs.',
    ),
    storageClassName: text('', 'StorageClass of the volumes; empty: the cluster’s default.'),
    resources: anything({ requests: { cpu: '100m', memory: '128Mi' } }, 'What each member asks for and may take.'),
    nodeSelector: anything({}, 'Labels of nodes that members may run on.'),
    tolerations: anything(onControlPlaneNodes, 'Taints of nodes that members bear.'),
    priorityClassName: text('', 'PriorityClass of the members.'),
  }),

  'steward-etcd': anything(
    {},
    'The Go Steward’s name: deploy: false is understood and means etcd.enabled: false. All else in it has no effect.',
  ),
  temporaryDirectoryPath: text('', 'Of the Go Steward, without effect: nothing is written to disk.'),
  telemetry: anything({}, 'Of the Go Steward, without effect: there is none.'),
  kubeconfigGenerator: anything(
    {},
    'Of the Go Steward, without effect: the manager serves KubeconfigGenerators itself.',
  ),
};

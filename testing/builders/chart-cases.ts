const dedicated = [{ key: 'dedicated', operator: 'Exists' }];

/** Values that between them reach every branch of the chart `steward`, by what they are about. */
export const chartCases: Readonly<Record<string, object>> = {
  'the defaults': {},
  'TenantControlPlanes only': { 'clusterApi.enabled': false },
  'the Cluster API provider only': { 'tenantControlPlanes.enabled': false },
  'three managers with all that guards them': {
    replicaCount: 3,
    'podDisruptionBudget.maxUnavailable': 2,
    'networkPolicy.probesFrom': [{ ipBlock: { cidr: '10.0.0.0/8' } }],
    'networkPolicy.metricsFrom': [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
    ],
    priorityClassName: 'system-cluster-critical',
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
  },
  'an image of one’s own by digest': {
    image: {
      repository: 'registry.example.com/steward',
      digest: `sha256:${'0'.repeat(64)}`,
      pullPolicy: 'Always',
    },
    imagePullSecrets: [{ name: 'registry' }],
  },
  'a place of one’s own': {
    nodeSelector: { 'node-role.kubernetes.io/infra': '' },
    tolerations: dedicated,
    affinity: { nodeAffinity: {} },
    'etcd.nodeSelector': { 'node-role.kubernetes.io/infra': '' },
    'etcd.tolerations': dedicated,
    'etcd.priorityClassName': 'system-cluster-critical',
  },
  'three members of etcd on a fast class': {
    'etcd.members': 3,
    'etcd.storageClassName': 'fast',
    'etcd.clusterDomain': 'k8s.example',
    'etcd.dataStoreName': 'first',
  },
  'a store of one’s own, few namespaces and more flags': {
    'etcd.enabled': false,
    defaultDatastoreName: 'shared',
    watchNamespace: 'team',
    watchFilter: 'blue',
    extraArgs: ['--max-concurrent-reconciles=2'],
    extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=800' }],
    'loggingDevel.enable': true,
    leaderElect: false,
  },
  'control planes in other clusters': {
    'featureGates.ExternalClusterReference': true,
    'featureGates.ExternalClusterReferenceCrossNamespace': true,
  },
  'cluster stacks': {
    'clusterStacks.enabled': true,
    'clusterStacks.helm': '/opt/helm',
    'clusterStacks.furtherKinds': ['Image.openstack.k-orc.cloud', 'ConfigMap.'],
    'clusterStacks.cache.sizeLimit': '5Gi',
  },
  'cluster stacks with a cache without limit, beside the Cluster API provider only': {
    'clusterStacks.enabled': true,
    'clusterStacks.cache.sizeLimit': '',
    'tenantControlPlanes.enabled': false,
    'rbac.create': false,
  },
  'no metrics, no rights, no account': {
    metricsBindAddress: '0',
    'rbac.create': false,
    'serviceAccount.create': false,
    'serviceAccount.name': 'given',
    startupProbe: {},
  },
  'other names, labels and annotations': {
    fullnameOverride: 'cp',
    podLabels: { team: 'blue' },
    podAnnotations: { 'example.com/a': 'b' },
    'serviceAccount.annotations': { 'example.com/a': 'b' },
    'metrics.service.annotations': { 'prometheus.io/scrape': 'true' },
  },
  'open metrics and no policy': {
    'serviceMonitor.enabled': true,
    'metrics.secure': false,
    'networkPolicy.enabled': false,
  },
  'a ServiceMonitor': { 'serviceMonitor.enabled': true, 'serviceMonitor.labels': { release: 'prometheus' } },
  'the alerts': { 'prometheusRule.enabled': true, 'prometheusRule.labels': { release: 'prometheus' } },
  'the dashboards': { 'dashboards.enabled': true },
  'the Go Steward’s values': {
    replicaCount: 1,
    'image.tag': 'v0.17.0',
    'telemetry.disabled': true,
    'steward-etcd.deploy': false,
    temporaryDirectoryPath: '/tmp/steward',
    'kubeconfigGenerator.enabled': true,
    'loggingDevel.enable': true,
    'serviceMonitor.enabled': false,
    healthProbeBindAddress: ':8081',
    metricsBindAddress: ':8080',
  },
};

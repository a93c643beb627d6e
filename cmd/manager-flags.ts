import { newestMinor } from '../kubeadm/versions.ts';
import type { Flags } from './flags.ts';

/** The flags of `steward manager`. Those of the Go Steward and of a Cluster API provider keep their names and defaults. */
export const managerFlags = {
  kubeconfig: { value: '', help: 'File that leads to the management cluster; empty: the service account of the pod.' },
  namespace: { value: '', help: 'Namespace to watch; empty: all of them.' },
  controllers: {
    value: '*',
    help: 'Comma-separated controllers that run: * is all of them, -name all but that one.',
  },
  'watch-filter': {
    value: '',
    help: 'Only StewardControlPlanes, ClusterStacks with their releases, and Clusters with their ClusterAddons, whose label cluster.x-k8s.io/watch-filter has this value; empty: all of them.',
  },
  'pod-namespace': {
    value: '',
    help: 'Namespace of the manager: its leases and certificates are kept there ($POD_NAMESPACE).',
  },
  'serviceaccount-name': { value: '', help: 'Service account that Jobs of the manager run as ($SERVICE_ACCOUNT).' },
  datastore: {
    value: '',
    help: 'DataStore of TenantControlPlanes that neither name nor select one; it may be created later. Empty: one is chosen for them.',
  },
  'leader-elect': { value: true, help: 'Only one manager works at a time.' },
  'metrics-bind-address': {
    value: '',
    help: 'Where metrics are served; 0 switches them off. Empty: :8443, or with --insecure-diagnostics 127.0.0.1:8080.',
  },
  'health-probe-bind-address': { value: ':8081', help: 'Where /healthz and /readyz are served.' },
  'webhook-bind-address': {
    value: ':9443',
    help: 'Where admission requests are answered; 0 switches the webhooks off.',
  },
  'webhook-service-name': {
    value: 'steward-webhook-service',
    help: 'Service through which the API server reaches the webhooks.',
  },
  'webhook-url': {
    value: '',
    help: 'Base address of the webhooks for a manager outside the cluster, e.g. https://172.30.0.10:9443; empty: the Service.',
  },
  'max-concurrent-tcp-reconciles': { value: 8, help: 'TenantControlPlanes visited at once.' },
  'max-concurrent-reconciles': { value: 8, help: 'StewardControlPlanes visited at once.' },
  'watch-tenants': {
    value: true,
    help: 'Foreign edits inside tenants are heard and repaired within seconds, over one connection to each; false: found by looking every 15 minutes.',
  },
  'controller-reconcile-timeout': { value: '30s', help: 'Longest duration of one visit.' },
  'certificate-expiration-deadline': {
    value: '24h',
    help: 'Certificates are renewed when they expire sooner; from 24h to 4380h, half of their validity.',
  },
  'allow-external-ips': {
    value: '',
    help: 'Comma-separated networks of which TenantControlPlanes may take external IPs: all nodes then send what goes there to the tenant. Empty: none.',
  },
  'allow-annotations': {
    value: '',
    help: 'Comma-separated domains of annotations, such as example.com/, that control planes may put on their objects besides the usual ones; * is all of them. Those that reach beyond the namespace are allowed by their whole key only.',
  },
  'max-kubernetes-minor': {
    value: newestMinor,
    help: 'Last minor of Kubernetes 1 that tenants may have; above the default nothing is tested.',
  },
  'default-pod-security-standard': {
    value: 'baseline',
    help: 'Pod Security Standard by which pod fields of control planes are judged in namespaces without the label pod-security.kubernetes.io/enforce: privileged, baseline or restricted.',
  },
  'allow-extra-args': {
    value: '',
    help: 'Comma-separated component:flag, or flag for all components, that extraArgs may have though they lead a program out of what Steward made for it, for example apiServer:token-auth-file.',
  },
  'kine-image': { value: 'rancher/kine:v0.16.4', help: 'Image of kine, for stores that speak SQL or NATS.' },
  'migrate-image': { value: '', help: 'Image of migration Jobs; empty: that of the manager.' },
  'migration-minimum-hold': {
    value: '0s',
    help: 'How long a migration shows Migrating, and denies writes, at least: clients of the Go Steward expect about 15s.',
  },
  'feature-gates': {
    value: '',
    help: 'Comma-separated Name=true|false. ExternalClusterReference lets control planes run in other clusters, ExternalClusterReferenceCrossNamespace lets their kubeconfigs be in any namespace, ClusterStacks looks after cluster stacks, whose definitions have to be there, RuntimeSDK with it lets core Cluster API ask before upgrades, whose ExtensionConfig has to be there; all are off unless said, other names are let pass.',
  },
  helm: {
    value: 'helm',
    help: 'Path of helm 4, or its name in $PATH, which renders the charts of cluster stacks; only the image with helm has it.',
  },
  'cluster-stacks-cache': {
    value: '/tmp/steward-cluster-stacks',
    help: 'Folder in which releases of cluster stacks are kept; what is lost is fetched again.',
  },
  'cluster-stacks-kinds': {
    value: '',
    help: 'Comma-separated Kind.group of what releases of cluster stacks may make beside ClusterClasses, their templates and ClusterResourceSets, for example Image.openstack.k-orc.cloud; whoever pushes releases then writes them with the manager’s rights.',
  },
  'cluster-stacks-folder': {
    value: '',
    help: 'Folder that sources of cluster stacks of type directory are below; empty: there are none of this type.',
  },
  'dynamic-infrastructure-clusters': {
    value: '',
    help: 'Accepted for compatibility: every infrastructure cluster with spec.controlPlaneEndpoint is served.',
  },
  'tmp-directory': { value: '', help: 'Accepted for compatibility: nothing is written to disk.' },
  'webhook-ca-path': { value: '', help: 'Accepted for compatibility: the manager makes its own certificates.' },
  'cache-resync-period': {
    value: '10h',
    help: 'Accepted for compatibility: watches are resumed, never repeated by the clock.',
  },
  'diagnostics-address': { value: '', help: 'As --metrics-bind-address, under the name of Cluster API providers.' },
  'insecure-diagnostics': {
    value: false,
    help: 'Metrics are served over plain HTTP to everybody. Otherwise over TLS, to whoever the API server knows by a token and lets get the path /metrics, as the ClusterRole steward-metrics-reader does.',
  },
  'health-addr': { value: '', help: 'As --health-probe-bind-address, under the name of Cluster API providers.' },
  'zap-log-level': { value: 'info', help: 'debug, info, warn or error; a number greater than 0 means debug.' },
  'zap-encoder': { value: 'json', help: 'json or console.' },
  'zap-devel': { value: false, help: 'Console format and debug level.' },
  v: { value: 0, help: 'Verbosity as in Kubernetes: 0 is info, more is debug.' },
} as const satisfies Flags;

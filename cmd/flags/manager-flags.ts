import { newestMinor } from '../../kubeadm/versions.ts';
import type { Flags } from './flags.ts';

/**
 * The flags of `steward manager`. Those of the Go Steward and of a Cluster API provider keep their names and defaults.
 */
export const managerFlags = {
  kubeconfig: {
    value: '',
    help: 'Path of a kubeconfig for the management cluster. Defaults to the service account of the pod.',
  },
  namespace: { value: '', help: 'Namespace to watch. If empty, all namespaces are watched.' },
  controllers: {
    value: '*',
    help: 'Comma-separated list of controllers to run. * enables all, -name disables the one with that name.',
  },
  'watch-filter': {
    value: '',
    help: 'Reconcile only StewardControlPlanes, ClusterStacks with their releases, and Clusters with their ClusterAddons whose label cluster.x-k8s.io/watch-filter has this value. If empty, all of them are reconciled.',
  },
  'pod-namespace': {
    value: '',
    help: 'Namespace of the manager, where its Leases and certificates are stored ($POD_NAMESPACE).',
  },
  'serviceaccount-name': {
    value: '',
    help: 'Service account of the Jobs that the manager creates ($SERVICE_ACCOUNT).',
  },
  datastore: {
    value: '',
    help: 'DataStore of TenantControlPlanes that neither name nor select one. It may be created later. If empty, one is selected for them.',
  },
  'leader-elect': {
    value: true,
    help: 'Whether to use leader election, so that only one manager is active at a time.',
  },
  shards: {
    value: false,
    help: 'Whether all replicas of the manager are active, each with a share of the objects. They must have the same flags. Needs --leader-elect.',
  },
  'metrics-bind-address': {
    value: '',
    help: 'Address at which metrics are served; 0 disables them. Defaults to :8443, or to 127.0.0.1:8080 with --insecure-diagnostics.',
  },
  'health-probe-bind-address': { value: ':8081', help: 'Address at which /healthz and /readyz are served.' },
  'webhook-bind-address': {
    value: ':9443',
    help: 'Address at which the webhooks are served; 0 disables them.',
  },
  'webhook-service-name': {
    value: 'steward-webhook-service',
    help: 'Service through which the API server reaches the webhooks.',
  },
  'webhook-url': {
    value: '',
    help: 'Base URL of the webhooks of a manager that runs outside the cluster, e.g. https://172.30.0.10:9443. Defaults to the Service.',
  },
  'max-concurrent-tcp-reconciles': {
    value: 8,
    help: 'Maximum number of TenantControlPlanes that are reconciled at once.',
  },
  'max-concurrent-reconciles': {
    value: 8,
    help: 'Maximum number of StewardControlPlanes that are reconciled at once.',
  },
  'max-starting-control-planes': {
    value: 0,
    help: 'Maximum number of control planes that start their pods at once; the others follow in turn. The default, 0, means 2 for each processor of the schedulable nodes, and at least 2.',
  },
  'watch-tenants': {
    value: true,
    help: 'Whether to watch objects inside tenants, over one connection to each, so that drift is repaired within seconds. If false, drift is detected by polling every 15 minutes.',
  },
  'object-metrics': {
    value: true,
    help: 'Whether metrics include every TenantControlPlane and every DataStore, at most 26 series each. If false, only the manager itself is measured.',
  },
  'tracing-endpoint': {
    value: '',
    help: 'URL to which traces of reconciles are sent, as OTLP over HTTP, e.g. http://collector:4318/v1/traces. None are sent if it is empty.',
  },
  'tracing-percent': {
    value: 100,
    help: 'Percentage of reconciles that are traced.',
  },
  profiling: {
    value: false,
    help: 'Whether the metrics port also serves /debug/profiles/cpu and /debug/profiles/heap, to clients that may get these paths.',
  },
  'tenant-probe-interval': {
    value: '30s',
    help: 'How often /readyz of the API server of a tenant is requested, through its Service and through its endpoint, for the metrics. One that answers is asked half as often, in turn on one of the ways. Needs --object-metrics. 0s turns it off.',
  },
  'tenant-size-interval': {
    value: '1h',
    help: 'How often the data of every tenant is measured in its DataStores, for the metrics, two tenants at a time. With etcd and NATS, all of it is read. Needs --object-metrics. At least 60s; 0s turns it off.',
  },
  'monitor-tenants': {
    value: false,
    help: 'Whether a PodMonitor of the Prometheus Operator is created for every control plane, with a client certificate that may only read metrics. Needs the kind PodMonitor.',
  },
  'pod-monitor-labels': {
    value: '',
    help: 'Comma-separated labels, as key=value, by which Prometheus selects these PodMonitors.',
  },
  'pod-monitor-interval': {
    value: '60s',
    help: 'How often the components of control planes are scraped. At least 5s.',
  },
  'isolation-verification-interval': {
    value: '6h',
    help: 'How often it is verified that a DataStore isolates tenants, give or take a tenth. It is also verified when it is added, or when its version, spec or credentials change; with 0s, only then.',
  },
  'controller-reconcile-timeout': { value: '30s', help: 'Maximum duration of one reconcile.' },
  'certificate-expiration-deadline': {
    value: '24h',
    help: 'Certificates that expire within this time are renewed. From 24h to 4380h, which is half of their validity.',
  },
  'allow-external-ips': {
    value: '',
    help: 'Comma-separated networks, in CIDR notation, in which TenantControlPlanes may use external IPs. All nodes then send traffic for these IPs to the tenant. If empty, none may be used.',
  },
  'allow-annotations': {
    value: '',
    help: 'Comma-separated domains of annotations, e.g. example.com/, that control planes may set on their objects in addition to the usual ones; * allows all. Annotations with an effect beyond the namespace are only allowed by their full key.',
  },
  'max-kubernetes-minor': {
    value: newestMinor,
    help: 'Newest Kubernetes 1.x minor version that tenants may use. Versions above the default are not tested.',
  },
  'default-pod-security-standard': {
    value: 'baseline',
    help: 'Pod Security Standard that pod fields of control planes must meet in namespaces without the label pod-security.kubernetes.io/enforce: privileged, baseline or restricted.',
  },
  'allow-extra-args': {
    value: '',
    help: 'Comma-separated component:flag pairs, or flag for all components, that extraArgs may set although they override the datastore, CAs, credentials or authorization that Steward configures, e.g. apiServer:token-auth-file.',
  },
  'kine-image': { value: 'rancher/kine:v0.16.4', help: 'Image of kine, which SQL and NATS datastores need.' },
  'migrate-image': {
    value: '',
    help: 'Image of the processes of migrations, backups and restores. Defaults to the image of the manager.',
  },
  'migration-minimum-hold': {
    value: '0s',
    help: 'Minimum time for which a migration shows Migrating and denies writes. Clients of the Go Steward expect about 15s.',
  },
  'feature-gates': {
    value: '',
    help: 'Comma-separated Name=true|false pairs. ExternalClusterReference: control planes may run on hosting clusters. ExternalClusterReferenceCrossNamespace: their kubeconfigs may be in any namespace. ClusterStacks: reconcile cluster stacks; their CustomResourceDefinitions must be installed. RuntimeSDK, together with ClusterStacks: core Cluster API asks before upgrades; its ExtensionConfig must be installed. Backups: reconcile BackupPolicies, TenantBackups and TenantRestores; the service accounts in config/backup must exist. All default to false. Unknown names are ignored.',
  },
  'backup-claims': {
    value: '',
    help: 'Comma-separated names of PersistentVolumeClaims in the namespace of the manager that BackupPolicies, TenantBackups and TenantRestores may name. Each control plane has a folder of its own there. If empty, none may be named.',
  },
  'backup-buckets': {
    value: '',
    help: 'Comma-separated names of Secrets in the namespace of the manager, each with a bucket of an S3 server, that BackupPolicies, TenantBackups and TenantRestores may name. If empty, none may be named.',
  },
  helm: {
    value: 'helm',
    help: 'Path of helm 4, or its name in $PATH. It renders the charts of cluster stacks. Only the image with helm contains it.',
  },
  'cluster-stacks-cache': {
    value: '/tmp/steward-cluster-stacks',
    help: 'Directory in which releases of cluster stacks are cached. Missing files are downloaded again.',
  },
  'cluster-stacks-kinds': {
    value: '',
    help: 'Comma-separated kinds, as Kind.group, that releases of cluster stacks may create in addition to ClusterClasses, their templates and ClusterResourceSets, e.g. Image.openstack.k-orc.cloud. Anyone who may push releases can then write these kinds with the permissions of the manager.',
  },
  'cluster-stacks-folder': {
    value: '',
    help: 'Directory that contains the cluster stack sources of type directory. If empty, this type is not available.',
  },
  'dynamic-infrastructure-clusters': {
    value: '',
    help: 'Accepted for compatibility, without effect: every infrastructure cluster with spec.controlPlaneEndpoint is supported.',
  },
  'tmp-directory': {
    value: '',
    help: 'Accepted for compatibility, without effect: nothing is written to this directory.',
  },
  'webhook-ca-path': {
    value: '',
    help: 'Accepted for compatibility, without effect: the manager creates its own certificates.',
  },
  'cache-resync-period': {
    value: '10h',
    help: 'Accepted for compatibility, without effect: watches are resumed, and there is no periodic resync.',
  },
  'diagnostics-address': {
    value: '',
    help: 'Alias of --metrics-bind-address with the name that Cluster API providers use.',
  },
  'insecure-diagnostics': {
    value: false,
    help: 'Whether to serve metrics over plain HTTP, without authentication. If false, metrics are served over TLS, to clients whose token the API server accepts and who may get the path /metrics, e.g. by the ClusterRole steward-metrics-reader.',
  },
  'health-addr': {
    value: '',
    help: 'Alias of --health-probe-bind-address with the name that Cluster API providers use.',
  },
  'zap-log-level': {
    value: 'info',
    help: 'Log level: debug, info, warn or error. A number greater than 0 means debug.',
  },
  'zap-encoder': { value: 'json', help: 'Log format: json or console.' },
  'zap-devel': { value: false, help: 'Development mode: console format and debug level.' },
  v: { value: 0, help: 'Log verbosity as in Kubernetes: 0 is info, higher values are debug.' },
} as const satisfies Flags;

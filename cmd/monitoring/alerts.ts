import { controllerNames } from '../chosen-controllers.ts';
import { ofManager } from './of-manager.ts';

/** An alert of Prometheus, and what a person needs who is woken by it. */
export interface Alert {
  readonly name: string;
  /** PromQL; each series that it returns is one alert. */
  readonly expr: string;
  /** For how long it has to be so, as a duration of Prometheus. */
  readonly for: string;
  /** `critical`: an operator has to act now. `warning`: an operator has to act within days. */
  readonly severity: 'critical' | 'warning';
  /** One line; may use the labels of the series. */
  readonly summary: string;
  /** What it means for users. */
  readonly meaning: string;
  /** What to do, in this order. */
  readonly remedy: readonly string[];
}

const tenant = '{{ $labels.namespace }}/{{ $labels.name }}';
/** A control plane that its author lets sleep, and one that is being deleted, are as they should be. */
const runs =
  'and on (namespace, name) steward_tenant_replicas{state="desired"} > 0 unless on (namespace, name) steward_tenant_deleted_timestamp_seconds';
const condition = (type: string): string => `max by (namespace, name) (steward_tenant_condition{type="${type}"})`;

const probed = (path: string): string => `max by (namespace, name) (steward_tenant_probe_success{path="${path}"})`;
const available = (window: string): string => `steward:tenant_availability:avg${window}{path="service"}`;
/** With 14.4 times the errors that 99.9% allows, a month's errors are used within two days. */
const fastBurn = 1 - 14.4 * 0.001;

/** Other controllers have metrics of these names, too. */
const ours = `{controller=~"${controllerNames.join('|')}"}`;

const seconds = { minute: 60, hour: 3600, day: 24 * 3600 };
const describe = '`kubectl -n <namespace> describe tcp <name>`';

/** Claims wait, and nothing of their pool can be claimed. */
const poolEmpty =
  'max by (namespace, name) (steward_pool_claims_waiting{reason="NoneReady"}) > 0 and on (namespace, name) max by (namespace, name) (steward_pool_control_planes{state="ready"}) == 0';
const ended = 'steward_activator_connections_total';
/** Callers who waited for a wake and were passed on later than after so many seconds, as a rate. Prometheus 3 writes whole numbers with a point. */
const later = (limit: number): string =>
  `(sum(rate(steward_activator_wait_seconds_count[30m])) - sum(rate(steward_activator_wait_seconds_bucket{le=~"${limit}(.0)?"}[30m])))`;

/** Every alert, those that concern most users first. */
export const alerts: readonly Alert[] = [
  {
    name: 'StewardManagerAbsent',
    expr: `absent(${ofManager.leading} == 1)`,
    for: '5m',
    severity: 'critical',
    summary: 'No manager leads: nothing is reconciled',
    meaning:
      'Control planes keep serving, but Steward repairs, renews, creates and deletes nothing. Webhooks may refuse changes. The alert also fires if Prometheus cannot scrape the manager.',
    remedy: [
      'Does a pod of the manager run: `kubectl -n steward-system get pods`? Its log, and `kubectl describe pod`, say why not.',
      'If it runs, look at its target in Prometheus: 401 or 403 means that the token may not read `/metrics`; a timeout means that the NetworkPolicy does not let Prometheus in.',
      'If it is scraped, `kubectl -n steward-system get lease` says who leads, and the log says why nobody does.',
    ],
  },
  {
    name: 'StewardTenantUnavailable',
    expr: `${condition('ControlPlaneAvailable')} < 1 ${runs}`,
    for: '5m',
    severity: 'critical',
    summary: `The control plane ${tenant} does not serve`,
    meaning: 'The users of the tenant cannot reach its API server. Pods on its workers keep running.',
    remedy: [
      `${describe}: the message of ControlPlaneAvailable contains what the pods report.`,
      'With reason PodsRefused, a quota, Pod Security or a webhook of the management cluster is in the way. With StartsLater, others are starting: wait.',
      'If several tenants are affected, look at their DataStore first: `kubectl get datastores`.',
    ],
  },
  {
    name: 'StewardDataStoreUnusable',
    expr: 'max by (name) (steward_datastore_condition{type="Ready"}) < 1',
    for: '5m',
    severity: 'critical',
    summary: 'The DataStore {{ $labels.name }} cannot be used',
    meaning: 'Control planes of its tenants may not serve, or not accept writes. New tenants are not placed in it.',
    remedy: [
      '`kubectl describe datastore <name>`: Reachable, Authorized and VersionSupported say what is wrong, and with which server.',
      'For the quick-start etcd: `kubectl -n steward-system get pods -l app.kubernetes.io/name=etcd`, and [care for an etcd](../../how-to/care-for-etcd.md).',
    ],
  },
  {
    name: 'StewardDataStoreNotIsolated',
    expr: 'max by (name) (steward_datastore_isolation_breached) == 1',
    for: '1m',
    severity: 'critical',
    summary: 'The DataStore {{ $labels.name }} lets a tenant out of its tenancy',
    meaning:
      'A tenant of this DataStore can reach data of others, or the administration of the servers. New tenants wait; those that run are left alone.',
    remedy: [
      '`kubectl describe datastore <name>`: the message of IsolationVerified names what was allowed.',
      'Close the hole: [Verify the isolation of a DataStore](../../how-to/verify-isolation.md) says how for each driver.',
      'Until then, drain the DataStore if its tenants do not trust each other: [Drain a DataStore](../../how-to/drain-a-datastore.md).',
    ],
  },
  {
    name: 'StewardTenantErrors',
    expr: `${available('1h')} < ${fastBurn} and ${available('5m')} < ${fastBurn} unless on (namespace, name) ${condition('ControlPlaneAvailable')} < 1`,
    for: '2m',
    severity: 'critical',
    summary: `The API server of ${tenant} fails more than one probe in 70`,
    meaning:
      'At this rate, two days use up the errors that an objective of 99.9% allows for a month. Users see calls that fail, although pods are ready.',
    remedy: [
      '`kubectl -n <namespace> get pods -l steward.butlerlabs.dev/name=<name>`: do containers restart, or are they throttled?',
      'Does its DataStore answer slowly, or one of its members not at all: `kubectl describe datastore <datastore>`?',
      'Do its own users send too many requests? [Tune the control plane](../../how-to/tune-a-control-plane.md), or give it more replicas.',
    ],
  },
  {
    name: 'StewardTenantEndpointUnreachable',
    expr: `${probed('endpoint')} == 0 and on (namespace, name) ${probed('service')} == 1 ${runs}`,
    for: '5m',
    severity: 'warning',
    summary: `The control plane ${tenant} serves, but not at its endpoint`,
    meaning:
      'Workers and users may not reach it. The manager probes from its own pod: a load balancer that cannot be reached from inside the cluster looks the same.',
    remedy: [
      'Does the endpoint answer from elsewhere: `curl -k https://<endpoint>/readyz`? If it does, only the manager cannot reach it, and you can silence this alert.',
      'Does the name resolve to the address of the load balancer, router or node, and does a firewall let the port through?',
      `${describe}: EndpointReady says what the Service, Ingress or Gateway still lacks.`,
    ],
  },
  {
    name: 'StewardTenantSlow',
    expr: 'steward:tenant_probe_duration_seconds:avg5m{path="service"} > 1',
    for: '15m',
    severity: 'warning',
    summary: `The API server of ${tenant} answers slowly`,
    meaning: 'A new connection and one small request take more than a second.',
    remedy: [
      'Does kube-apiserver, or its node, have no processor time left? [Tune the control plane](../../how-to/tune-a-control-plane.md), or give it more replicas.',
      'If several tenants of one DataStore are slow, the DataStore is slow: look at its disks and processors.',
    ],
  },
  {
    name: 'StewardTenantNotReady',
    expr: `${condition('Ready')} < 1 and on (namespace, name) ${condition('ControlPlaneAvailable')} == 1 ${runs}`,
    for: '30m',
    severity: 'warning',
    summary: `The control plane ${tenant} serves, but is not Ready`,
    meaning:
      'Part of the spec is not in place: an add-on, a certificate, the endpoint or a rollout. Users may not notice it yet.',
    remedy: [`${describe}: the message of Ready names another condition, whose message says what is wrong.`],
  },
  {
    name: 'StewardDataStoreIsolationUnknown',
    expr: 'max by (name) (steward_datastore_condition{type="IsolationVerified"}) == -1 and on (name) max by (name) (steward_datastore_condition{type="Ready"}) == 1',
    for: '30m',
    severity: 'warning',
    summary: 'It cannot be verified that the DataStore {{ $labels.name }} isolates tenants',
    meaning:
      'The DataStore can be used and takes new tenants, unless its last verification that succeeded found a breach.',
    remedy: [
      '`kubectl describe datastore <name>`: the message of IsolationVerified says why the verification failed.',
      'If the servers cannot take the canary tenancies at all, silence this alert for the DataStore: [what the results mean](../../how-to/verify-isolation.md#read-the-result).',
    ],
  },
  {
    name: 'StewardTenantQuotaExceeded',
    expr: `${condition('WithinQuota')} == 0 ${runs}`,
    for: '10m',
    severity: 'warning',
    summary: `The tenant ${tenant} has reached a limit of its quota`,
    meaning:
      'Its API server denies creations and changes: no pod is created there, not even in place of another. Deletions are allowed.',
    remedy: [
      `${describe}: WithinQuota says which limit is reached, and until when creations and changes are denied.`,
      'Ask its users to delete objects or to write less often, or raise `spec.quota` if the DataStore has room: [Limit what a tenant stores](../../how-to/limit-what-a-tenant-stores.md).',
    ],
  },
  {
    name: 'StewardTenantQuotaUnknown',
    expr: `${condition('WithinQuota')} == -1 and on (namespace, name) ${condition('ControlPlaneAvailable')} == 1 ${runs}`,
    for: '15m',
    severity: 'warning',
    summary: `The quota of the tenant ${tenant} is not enforced`,
    meaning: 'What it stores cannot be measured, or its API server cannot deny writes. It may write without a limit.',
    remedy: [
      `${describe}: WithinQuota says why.`,
      'With MeasurementFailed, look at its DataStore: `kubectl describe datastore <datastore>`.',
      'With PoliciesNotServed, upgrade the tenant to Kubernetes 1.30 or later.',
    ],
  },
  {
    name: 'StewardTenantUseUnknown',
    expr: 'max by (namespace, name) (steward_tenant_use_unknown) == 1 unless on (namespace, name) steward_tenant_deleted_timestamp_seconds',
    for: '1h',
    severity: 'warning',
    summary: `It is not known whether the control plane ${tenant} is used`,
    meaning: 'It serves, but does not fall asleep, although `spec.sleep.afterIdle` requests that when nobody uses it.',
    remedy: [
      `${describe}: the message of Asleep, whose reason is UseUnknown, says why \`/metrics\` of its API servers cannot be read.`,
      '[What UseUnknown means](conditions.md#tenantcontrolplane), and [what counts as use](../../how-to/sleep-and-scale.md).',
    ],
  },
  {
    name: 'StewardWakesFail',
    expr: `sum(increase(${ended}{outcome="NotReady"}[15m])) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Callers of control planes that sleep were not answered within 30 seconds',
    meaning: 'Their connections were closed. Clients that try again may be answered, others report an error.',
    remedy: [
      'Does a manager lead? Without one nothing wakes up: see [StewardManagerAbsent](#stewardmanagerabsent).',
      'The log of the activator names the control planes: `kubectl -n steward-system logs -l app.kubernetes.io/component=activator`. `kubectl -n <namespace> describe tcp <name>` says why one does not start.',
      'If many were called at once, they start in turn: raise `--max-starting-control-planes` if the nodes have processors to spare.',
    ],
  },
  {
    name: 'StewardWakesSlow',
    expr: `${later(10)} / ${later(1)} > 0.2`,
    for: '15m',
    severity: 'warning',
    summary: 'More than every fifth caller who wakes a control plane up waits longer than ten seconds',
    meaning: 'Many clients give a connection ten seconds, and report an error then.',
    remedy: [
      'Do the nodes have to pull images, or have no processor time left? A start takes 5 seconds where neither is so.',
      'Do schedules or callers wake many up at the same time? They start in turn.',
      'Keep those awake whose users cannot wait: `kubectl steward wake`, or schedules.',
    ],
  },
  {
    name: 'StewardActivatorFull',
    expr: `sum by (pod, instance) (increase(${ended}{outcome="Full"}[5m])) > 0`,
    for: '5m',
    severity: 'warning',
    summary: 'The activator {{ $labels.instance }} refuses connections, because it has too many',
    meaning:
      'Too many callers wait. Who has most of them, a control plane and then an address, is refused first; others are served. Control planes that are awake are reached without it.',
    remedy: [
      '`steward_activator_held_connections`: do many callers wait for control planes that do not start? Then see [StewardWakesFail](#stewardwakesfail). Connections that were passed on do not count here: when those are too many, the oldest end, which `steward_activator_displaced_connections_total` counts, and their clients connect again.',
      'If the outcomes NotTls, Slow and Malformed rise as well, somebody floods endpoints: limit who reaches them, for example with `loadBalancerSourceRanges`.',
      'If all of them are wanted, raise `--max-connections` or `--max-connections-per-tenant` of the activator.',
    ],
  },
  {
    name: 'StewardActivatorAttacked',
    expr: `sum(rate(${ended}{outcome=~"NotTls|Malformed|OldVersion|TooLong|Slow"}[5m])) > 20`,
    for: '15m',
    severity: 'warning',
    summary: 'The activator refuses more than 20 connections a second that say no TLS hello',
    meaning:
      'Somebody scans or floods the endpoints of control planes that sleep. Nothing wakes up from it, and other callers are served.',
    remedy: [
      'Whose are they? Look at the load balancers and firewalls before the endpoints: a health check that speaks HTTP to many endpoints looks the same, and can be a TCP check.',
      'Limit who reaches the endpoints, for example with `loadBalancerSourceRanges`.',
    ],
  },
  {
    name: 'StewardUpgradeHeld',
    expr: `${condition('UpgradeAllowed')} == 0 ${runs}`,
    for: '1h',
    severity: 'warning',
    summary: `An upgrade of ${tenant} is held, or was rolled back to the previous pods`,
    meaning: 'The control plane serves with its previous version or configuration.',
    remedy: [
      `${describe}: UpgradeAllowed names the kubelets, the clients of removed APIs or the pods that are in the way, and when a failed rollout is tried again.`,
    ],
  },
  {
    name: 'StewardCertificateExpiring',
    expr: `steward_certificate_expiry_timestamp_seconds - time() < ${12 * seconds.hour}`,
    for: '15m',
    severity: 'critical',
    summary: `A certificate in the Secret {{ $labels.secret }} of ${tenant} expires within twelve hours`,
    meaning:
      'Steward renews certificates a day before they expire. This one was not renewed: once it has expired, the control plane or its users lose their connections.',
    remedy: [
      'Is the tenant paused? Its certificates are not renewed: [resume it](../../how-to/pause.md#resume).',
      `${describe}: CertificatesReady, KubeconfigsReady and AddonsReady say why a certificate is not renewed.`,
      'Does the CA itself expire soon? No certificate outlives its CA: [rotate the CA](../../how-to/rotate-authorities.md).',
    ],
  },
  {
    name: 'StewardAuthorityExpiring',
    expr: `steward_certificate_expiry_timestamp_seconds{secret=~".+-ca|.+-front-proxy-ca-certificate"} - time() < ${90 * seconds.day}`,
    for: '1h',
    severity: 'warning',
    summary: `A CA of ${tenant} expires within 90 days`,
    meaning: 'Nothing renews a CA by itself, because all workers and users have to learn the new one first.',
    remedy: ['[Rotate it](../../how-to/rotate-authorities.md) without interrupting a client.'],
  },
  {
    name: 'StewardDeletionStuck',
    expr: `time() - max by (namespace, name) (steward_tenant_deleted_timestamp_seconds) > ${15 * seconds.minute}`,
    for: '1m',
    severity: 'warning',
    summary: `The deletion of ${tenant} has not ended after 15 minutes`,
    meaning: 'Its data and credentials may still be in the DataStore.',
    remedy: [
      `${describe}: the condition Deleting says what it waits for.`,
      'With WaitingForStore, repair the DataStore. If you remove the finalizer instead, data and credentials are left behind.',
    ],
  },
  {
    name: 'StewardMigrationSlow',
    expr: `time() - max by (namespace, name) (steward_tenant_migration_started_timestamp_seconds) > ${2 * seconds.hour}`,
    for: '5m',
    severity: 'warning',
    summary: `The migration of ${tenant} to another DataStore has not ended after two hours`,
    meaning: 'The tenant can be used meanwhile, but cannot be upgraded.',
    remedy: [
      `${describe}: the condition Migrating says which phase it is in, how many keys are left, and what it waits for.`,
      'To cancel it, write the previous DataStore into `spec.dataStore`.',
    ],
  },
  {
    name: 'StewardBackupFails',
    expr: 'max by (namespace, name) (steward_backup_condition{type="Ready"}) < 1 unless on (namespace, name) steward_tenant_deleted_timestamp_seconds',
    for: '30m',
    severity: 'warning',
    summary: `The control plane ${tenant} is not backed up`,
    meaning: 'What its users change cannot be restored. The backups so far can.',
    remedy: [
      '`kubectl -n <namespace> get backuppolicies`, and `kubectl describe` the one of this control plane: its condition Ready has a reason and a message, and [the reasons have remedies](conditions.md#backuppolicy).',
      '`kubectl -n steward-system get pods -l steward.butlerlabs.dev/component=backup`: does its pod run, and what does its log say?',
    ],
  },
  {
    name: 'StewardBackupRehearsalFails',
    expr: 'max by (namespace, name) (steward_backup_condition{type="Rehearsed"}) == 0 unless on (namespace, name) steward_tenant_deleted_timestamp_seconds',
    for: '30m',
    severity: 'warning',
    summary: `The last rehearsal of the backups of ${tenant} failed`,
    meaning: 'A rehearsal did not succeed: the backups may be of no use.',
    remedy: [
      '`kubectl -n <namespace> describe backuppolicy <name>`: its condition Rehearsed has a reason and a message, and [the reasons have remedies](conditions.md#backuppolicy).',
      'Keep older backups until a rehearsal succeeds: raise spec.retention.keepLast.',
    ],
  },
  {
    name: 'StewardDataStoreFull',
    expr: 'max by (name) (steward_datastore_available_tenants) < 1',
    for: '15m',
    severity: 'warning',
    summary: 'The DataStore {{ $labels.name }} takes no more tenants',
    meaning: 'New tenants are placed in another DataStore. If none fits, they wait.',
    remedy: ['Raise `spec.placement.capacity.tenants`, add a DataStore, or rebalance with `spec.drain.keep`.'],
  },
  {
    name: 'StewardPoolEmpty',
    expr: poolEmpty,
    for: '5m',
    severity: 'warning',
    summary: `Claims wait for the pool ${tenant}, which has no prepared control plane`,
    meaning: 'Whoever claims a control plane of this pool waits until one has started, or for ever if none does.',
    remedy: [
      '`kubectl -n <namespace> describe controlplanepool <name>`: the condition Ready says whether control planes are being prepared, and why not. [Its reasons have remedies](conditions.md#controlplanepool).',
      'If they are prepared, but claimed at once, raise `spec.maxReady`. If it is 0, the pool prepares none.',
      'If the template has just changed, claims wait for control planes of the new one: wait.',
    ],
  },
  {
    name: 'StewardPoolNotRefilled',
    expr: `max by (namespace, name, reason) (steward_pool_refill_blocked) == 1 unless on (namespace, name) (${poolEmpty})`,
    for: '15m',
    severity: 'warning',
    summary: `The pool ${tenant} cannot be refilled: {{ $labels.reason }}`,
    meaning: 'Claims get what is left in reserve. Once that is used up, they wait.',
    remedy: [
      '`kubectl -n <namespace> describe controlplanepool <name>`: the message of Ready has what the API server refuses, or names the control planes that do not become Ready. [The reasons have remedies](conditions.md#controlplanepool).',
      'With CreationRefused, look at the quota of the namespace and at the DataStore of the template.',
      'With NotBecomingReady, `kubectl -n <namespace> describe tcp <control plane>`: its conditions say what is wrong.',
    ],
  },
  {
    name: 'StewardReconcilesFail',
    expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total${ours}[10m])) > 0.2`,
    for: '15m',
    severity: 'warning',
    summary: 'Reconciles of the controller {{ $labels.controller }} keep failing',
    meaning:
      'Changes of these objects have no effect until a reconcile succeeds. Reconciles are retried with back-off.',
    remedy: [
      'The log of the manager has each error with its object: `kubectl -n steward-system logs -l app.kubernetes.io/name=steward --tail=-1 | grep error`.',
      'If all of them are refused by the management cluster (403), the ClusterRole is older than the manager: apply the manifests of its version.',
    ],
  },
  {
    name: 'StewardBehind',
    expr: `max by (controller) (workqueue_longest_running_processor_seconds${ours}) > 120 or sum by (controller) (workqueue_depth${ours}) > 500`,
    for: '15m',
    severity: 'warning',
    summary: 'The controller {{ $labels.controller }} is falling behind',
    meaning: 'Changes take effect late.',
    remedy: [
      'Does the manager use all the processor time that it gets? Give it more. If not, raise `--max-concurrent-tcp-reconciles`, or for StewardControlPlanes `--max-concurrent-reconciles`.',
      'Does the management API server answer slowly (`rest_client_request_duration_seconds`)? Then it is the bottleneck.',
    ],
  },
  {
    name: 'StewardDefect',
    expr: `sum(increase(steward_unhandled_errors_total[1h])) > 0 or sum(increase(controller_runtime_reconcile_panics_total${ours}[1h])) > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'The manager has met an error that no code handles',
    meaning:
      'It continues, or it was restarted after an exception. An object may not be as it should be until its next reconcile.',
    remedy: [
      'Find the lines with `unhandled`, `uncaught` or `crashed` in the log of the manager (after a restart with `kubectl logs --previous`), and [report them](../../how-to/troubleshoot.md).',
    ],
  },
];

import { chosenControllers } from '../chosen-controllers.ts';
import type { ControllerName } from '../chosen-controllers.ts';
import type { FeatureGates } from './feature-gates.ts';
import { readFeatureGates } from './feature-gates.ts';
import type { FlagValues } from './flags.ts';
import { UsageError, readFlags } from './flags.ts';
import { argumentsFrom, strayVariables } from './flag-variables.ts';
import { goDuration } from '../../api/go-duration.ts';
import { certificateValidityMs } from '../../kubeadm/pki/lifetime.ts';
import { oldestMinor } from '../../kubeadm/versions.ts';
import { readBoundaries } from './boundary-settings.ts';
import type { BoundarySettings } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import { managerFlags } from './manager-flags.ts';
import { monitoringSettings } from './monitoring-settings.ts';
import type { MonitoringSettings } from '../../controllers/tenantcontrolplane/monitoring/pod-monitor.ts';
import { reachSettings } from './reach-settings.ts';
import type { Reach } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** How releases of cluster stacks are fetched and rendered. */
export interface StackSettings {
  /** Path of helm, or its name in `PATH`. */
  readonly helm: string;
  /** Where releases are kept. */
  readonly cache: string;
  /** What sources of type directory are below; empty: there are none. */
  readonly folder: string;
  /** `Kind.group` of what releases may make beside ClusterClasses and their templates. */
  readonly kinds: ReadonlySet<string>;
}

/** All settings of the manager, validated; times are in milliseconds. */
export interface ManagerSettings {
  readonly environment: Environment;
  /** Environment variables that look like one of a flag but are none. */
  readonly strayVariables: readonly string[];
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly controllers: ReadonlySet<ControllerName>;
  readonly watchFilter: string;
  readonly podNamespace: string;
  readonly podName: string;
  /** Empty when it is not set, as outside of a pod. */
  readonly podUid: string;
  readonly defaultDataStore: string;
  readonly kineImage: string;
  /** The last minor of Kubernetes 1 that is hosted. */
  readonly newestMinor: number;
  /** How far authors of control planes may go. */
  readonly boundaries: BoundarySettings;
  readonly leaderElect: boolean;
  /** Whether several managers share the objects. */
  readonly shards: boolean;
  readonly metrics: ListenAddress | undefined;
  /** Whether metrics are served without TLS and without authorization. */
  readonly insecureMetrics: boolean;
  /** Where traces are sent, and the share of reconciles that is traced; undefined for nowhere. */
  readonly tracing: { readonly endpoint: string; readonly ratio: number } | undefined;
  /** Whether profiles are served to clients that may get them. */
  readonly profiling: boolean;
  readonly health: ListenAddress | undefined;
  readonly webhooks: ListenAddress | undefined;
  readonly webhookService: string;
  readonly webhookUrl: string;
  readonly tenantConcurrency: number;
  readonly controlPlaneConcurrency: number;
  /** How many control planes start at once; 0 for what the nodes allow. */
  readonly mostStarts: number;
  /** Whether tenants are watched for drift. */
  readonly watchTenants: boolean;
  /** Whether objects are measured, too. */
  readonly objectMetrics: boolean;
  /** Between two probes of a tenant, in milliseconds; undefined when tenants are not probed. */
  readonly probeIntervalMs: number | undefined;
  /** Between two measurements of a tenant's data, in milliseconds; undefined when it is not measured. */
  readonly sizeIntervalMs: number | undefined;
  /** How Prometheus scrapes the components of control planes; undefined when it does not. */
  readonly monitoring: MonitoringSettings | undefined;
  /** Between two verifications that a DataStore isolates tenants, in milliseconds; 0 for none but those after a change. */
  readonly isolationIntervalMs: number;
  readonly reconcileTimeoutMs: number;
  readonly renewBeforeMs: number;
  /** Empty: that of the manager's own pod. */
  readonly migrateImage: string;
  readonly serviceAccount: string;
  readonly minimumHoldMs: number;
  readonly gates: FeatureGates;
  /** PersistentVolumeClaims in the manager's namespace that users may name for backups. */
  readonly backupClaims: ReadonlySet<string>;
  /** Secrets of buckets in the manager's namespace that users may name for backups. */
  readonly backupBuckets: ReadonlySet<string>;
  /** What control planes may show outside their namespaces. */
  readonly reach: Reach;
  readonly stacks: StackSettings;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format: 'json' | 'text' };
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/**
 * Reads the manager's command line and environment; a variable wins over its flag.
 * @throws UsageError that names the flag, what it was given and what is possible.
 */
export function readManagerSettings(args: readonly string[], environment: Environment): ManagerSettings {
  const flags = readFlags(managerFlags, [...args, ...argumentsFrom(managerFlags, environment)]);
  const podNamespace = flags['pod-namespace'] || (environment.POD_NAMESPACE ?? '');
  if (podNamespace === '') throw new UsageError('expecting a value for --pod-namespace arg, or $POD_NAMESPACE');
  return Object.freeze({
    environment,
    strayVariables: strayVariables(managerFlags, environment),
    kubeconfig: flags.kubeconfig,
    namespace: flags.namespace,
    controllers: chosenControllers(flags.controllers),
    watchFilter: flags['watch-filter'],
    podNamespace,
    podName: environment.POD_NAME ?? environment.HOSTNAME ?? `manager-${process.pid}`,
    podUid: environment.POD_UID ?? '',
    defaultDataStore: flags.datastore,
    kineImage: flags['kine-image'],
    newestMinor: lastMinor(flags),
    boundaries: readBoundaries(flags),
    leaderElect: flags['leader-elect'],
    shards: shards(flags),
    metrics: metricsAddress(flags),
    insecureMetrics: flags['insecure-diagnostics'],
    profiling: profiling(flags),
    tracing: tracing(flags),
    health: listenAddress('health-probe-bind-address', flags['health-addr'] || flags['health-probe-bind-address']),
    webhooks: listenAddress('webhook-bind-address', flags['webhook-bind-address']),
    webhookService: flags['webhook-service-name'],
    webhookUrl: flags['webhook-url'],
    tenantConcurrency: positive('max-concurrent-tcp-reconciles', flags['max-concurrent-tcp-reconciles']),
    controlPlaneConcurrency: positive('max-concurrent-reconciles', flags['max-concurrent-reconciles']),
    mostStarts: flags['max-starting-control-planes'],
    watchTenants: flags['watch-tenants'],
    objectMetrics: flags['object-metrics'],
    probeIntervalMs: metricsInterval('tenant-probe-interval', 1, flags),
    sizeIntervalMs: metricsInterval('tenant-size-interval', 60, flags),
    monitoring: monitoringSettings(flags),
    isolationIntervalMs: isolationInterval(flags),
    reconcileTimeoutMs: positive('controller-reconcile-timeout', duration('controller-reconcile-timeout', flags)),
    renewBeforeMs: renewBefore(flags),
    migrateImage: flags['migrate-image'],
    serviceAccount: flags['serviceaccount-name'] || (environment.SERVICE_ACCOUNT ?? ''),
    minimumHoldMs: duration('migration-minimum-hold', flags),
    gates: readFeatureGates(flags['feature-gates']),
    backupClaims: objectNames('PersistentVolumeClaims', 'backup-claims', flags['backup-claims']),
    backupBuckets: objectNames('Secrets', 'backup-buckets', flags['backup-buckets']),
    reach: reachSettings(flags['allow-external-ips'], flags['allow-annotations']),
    stacks: {
      helm: program('helm', flags.helm),
      cache: flags['cluster-stacks-cache'],
      folder: flags['cluster-stacks-folder'],
      kinds: kindNames('cluster-stacks-kinds', flags['cluster-stacks-kinds']),
    },
    log: logSettings(flags),
  });
}

type Values = FlagValues<typeof managerFlags>;

function listenAddress(flag: string, text: string): ListenAddress | undefined {
  if (text === '' || text === '0') return undefined;
  const [, host = '', digits] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    throw new UsageError(`--${flag} takes [host]:port, or 0 to disable it, got "${text}"`);
  }
  return { host: host.replace(/^\[|\]$/g, '') || '::', port };
}

/** Metrics without authorization listen on localhost only, unless an address is given. */
function metricsAddress(flags: Values): ListenAddress | undefined {
  const given = flags['diagnostics-address'] || flags['metrics-bind-address'];
  return listenAddress('metrics-bind-address', given || (flags['insecure-diagnostics'] ? '127.0.0.1:8080' : ':8443'));
}

function positive(flag: string, value: number): number {
  if (value <= 0) throw new UsageError(`--${flag} takes a value greater than 0, got ${value}`);
  return value;
}

function kindNames(flag: string, list: string): ReadonlySet<string> {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const bad = names.find((name) => !/^[A-Z][A-Za-z0-9]*\.[a-z0-9.-]*$/.test(name));
  if (bad !== undefined) throw new UsageError(`--${flag} takes Kind.group, separated by commas, got "${bad}"`);
  return new Set(names);
}

function objectNames(kinds: string, flag: string, list: string): ReadonlySet<string> {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const bad = names.find((name) => !/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(name));
  if (bad !== undefined) {
    throw new UsageError(`--${flag} takes names of ${kinds}, separated by commas, got "${bad}"`);
  }
  return new Set(names);
}

function program(flag: string, path: string): string {
  if (path === '') throw new UsageError(`--${flag} takes the path of a program, got nothing`);
  return path;
}

type DurationFlag =
  | 'controller-reconcile-timeout'
  | 'certificate-expiration-deadline'
  | 'migration-minimum-hold'
  | 'tenant-probe-interval'
  | 'tenant-size-interval'
  | 'isolation-verification-interval';

function duration(flag: DurationFlag, flags: Values): number {
  try {
    return goDuration(flags[flag]);
  } catch (error) {
    throw new UsageError(`--${flag}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function tracing({ 'tracing-endpoint': endpoint, 'tracing-percent': percent }: Values): ManagerSettings['tracing'] {
  if (endpoint === '') return undefined;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new UsageError(`--tracing-endpoint takes an http:// or https:// URL, got "${endpoint}"`);
  if (!(percent > 0 && percent <= 100)) throw new UsageError(`--tracing-percent takes 1 to 100, got ${percent}`);
  return { endpoint, ratio: percent / 100 };
}

function shards({ shards: wanted, 'leader-elect': elects }: Values): boolean {
  if (wanted && !elects)
    throw new UsageError('--shards needs --leader-elect: a manager without shards would work on the same objects');
  return wanted;
}

function profiling({ profiling: wanted, 'insecure-diagnostics': insecure }: Values): boolean {
  if (wanted && insecure)
    throw new UsageError(
      '--profiling cannot be combined with --insecure-diagnostics: profiles would be served to everyone',
    );
  return wanted;
}

/** An interval at which metrics are taken, in milliseconds; undefined if it is turned off, or metrics are. */
function metricsInterval(
  flag: 'tenant-probe-interval' | 'tenant-size-interval',
  leastSeconds: number,
  flags: Values,
): number | undefined {
  const ms = duration(flag, flags);
  if (ms === 0 || !flags['object-metrics']) return undefined;
  if (ms >= leastSeconds * 1000) return ms;
  throw new UsageError(`--${flag} takes 0s or at least ${leastSeconds}s, got ${flags[flag]}`);
}

function isolationInterval(flags: Values): number {
  const ms = duration('isolation-verification-interval', flags);
  if (ms === 0 || ms >= 60_000) return ms;
  const text = flags['isolation-verification-interval'];
  throw new UsageError(`--isolation-verification-interval takes 0s or at least 1m, got ${text}`);
}

function renewBefore(flags: Values): number {
  const ms = duration('certificate-expiration-deadline', flags);
  if (ms < dayMs) throw new UsageError('certificate expiration deadline must be at least 24 hours');
  // With a longer value a new certificate would be due at once, and it would be renewed, and its pods replaced, for ever.
  const longest = certificateValidityMs / 2;
  if (ms > longest) {
    const given = flags['certificate-expiration-deadline'];
    throw new UsageError(
      `--certificate-expiration-deadline takes at most ${longest / hourMs}h, half of the year that certificates are valid, got ${given}`,
    );
  }
  return ms;
}

function lastMinor(flags: Values): number {
  const minor = flags['max-kubernetes-minor'];
  if (!Number.isInteger(minor) || minor < oldestMinor) {
    throw new UsageError(`--max-kubernetes-minor takes a whole number of at least ${oldestMinor}, got ${minor}`);
  }
  return minor;
}

function logSettings(flags: Values): ManagerSettings['log'] {
  const text = flags['zap-log-level'];
  const verbose = flags.v > 0 || flags['zap-devel'] || Number(text) > 0;
  const level = verbose ? 'debug' : (['debug', 'info', 'warn', 'error'] as const).find((known) => known === text);
  if (level === undefined && Number.isNaN(Number(text))) {
    throw new UsageError(`--zap-log-level takes debug, info, warn, error or a number, got "${text}"`);
  }
  const isText = flags['zap-devel'] || flags['zap-encoder'] === 'console';
  return { level: level ?? 'info', format: isText ? 'text' : 'json' };
}

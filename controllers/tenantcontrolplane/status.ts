import type { Condition } from '../../api/meta.ts';
import { podSelectorText } from './shared/pod-selector.ts';
import { ports, tenantObjects } from '../../api/names.ts';
import type { TenantControlPlaneStatus } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { addonsStatus } from './addons/addon-status.ts';
import { addons } from './addons/registry.ts';
import type { MigrationStatus } from '../../api/steward/v1alpha1/migration-status.ts';
import { isFrozen, shareAtEnd } from './datastore/migration/migration-record.ts';
import { without } from './shared/without.ts';
import { joinHostPort } from '../../kubeadm/networks.ts';
import { versionText } from '../../kubeadm/versions.ts';
import { isTrue } from '../../runtime/reconcile/conditions.ts';
import { encryptionStatus, findingsBefore } from './encryption/encryption-status.ts';
import { wantedEncryption } from './encryption/wanted-encryption.ts';
import { quotaStatusAfter } from './quota/quota-status.ts';
import type { Scope, SecretFact } from './scope.ts';
import { wantedReplicas } from './shared/replicas.ts';
import { controlPlaneState } from './shared/state.ts';
import type { StateFinding } from './shared/state.ts';
import { withFirstReady } from './sleep/sleep-decision.ts';
import { withPort } from './sleep/waking/with-port.ts';
import { useStatusAfter } from './sleep/use/use-status.ts';
import { targetVersion } from './upgrade/upgrade-decision.ts';

/** The inputs of the status. */
export interface StatusInput {
  readonly scope: Readonly<Scope>;
  readonly state: StateFinding;
  /** The complete list. */
  readonly conditions: readonly Condition[];
  readonly now: Date;
}

type Part<K extends keyof TenantControlPlaneStatus> = NonNullable<TenantControlPlaneStatus[K]>;
type Resources = Part<'kubernetesResources'>;

interface Tracked {
  readonly lastUpdate?: string | null;
  readonly checksum?: string;
}

/** The checksum with the time at which it changed. */
function tracked(before: Tracked | undefined, checksum: string, now: Date): Tracked {
  if (before?.checksum === checksum) return { ...before, checksum };
  return { checksum, lastUpdate: seconds(now) };
}

function secret(before: Tracked | undefined, fact: SecretFact, now: Date): Tracked & { readonly secretName: string } {
  const { lastUpdate, checksum } = tracked(before, fact.checksum, now);
  return { secretName: fact.name, checksum, lastUpdate };
}

/** RFC 3339 in whole seconds, as metav1.Time is written. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

/** The object without undefined entries. */
function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function storage(input: StatusInput): Part<'storage'> | undefined {
  const found = shareOfStore(input);
  if (found === undefined) return undefined;
  return {
    ...without(found, 'drain', 'migration', 'previous', 'overrides', 'overridesCertificate'),
    ...drained(input.scope),
    ...migrations(input.scope),
    ...overrides(input),
  };
}

function shareOfStore({ scope, now }: StatusInput): Part<'storage'> | undefined {
  const { store, placement } = scope;
  const recorded = scope.tcp.status?.storage;
  const before = placement === undefined ? recorded : { ...recorded, placement };
  const ended = scope.migration === undefined ? undefined : shareAtEnd(scope.migration.record);
  // Whatever this reconcile learned of the datastore: when a migration ends, its record says where the data is.
  const kept = ended === undefined ? before : { ...before, ...ended, setup: { ...before?.setup, ...ended.setup } };
  if (store === undefined) return kept;
  const { schema, user } = store.tenancy;
  return {
    ...kept,
    driver: store.driver,
    dataStoreName: store.dataStoreName,
    config: { secretName: store.config.name, checksum: store.config.checksum },
    certificate: secret(before?.certificate, store.certificate, now),
    ...(scope.tenancyEnsured === true && { setup: { schema, user, ...tracked(before?.setup, store.setup, now) } }),
  };
}

function certificates({ scope, now }: StatusInput): Part<'certificates'> | undefined {
  const before = scope.tcp.status?.certificates;
  const facts = { ...scope.authorityFacts, ...scope.certificateFacts };
  const entry = (component: string, old: Tracked | undefined): ReturnType<typeof secret> | undefined => {
    const fact = facts[component];
    return fact === undefined ? undefined : secret(old, fact, now);
  };
  const found = defined({
    ca: entry('ca', before?.ca),
    apiServer: entry('api-server-certificate', before?.apiServer),
    apiServerKubeletClient: entry('api-server-kubelet-client-certificate', before?.apiServerKubeletClient),
    frontProxyCA: entry('front-proxy-ca-certificate', before?.frontProxyCA),
    frontProxyClient: entry('front-proxy-client-certificate', before?.frontProxyClient),
    sa: entry('service-account', before?.sa),
    rotation: scope.rotation,
  });
  return Object.keys(found).length === 0 ? before : { ...before, ...found };
}

function kubeconfigs({ scope, now }: StatusInput): Part<'kubeconfig'> | undefined {
  const before = scope.tcp.status?.kubeconfig;
  const facts = scope.kubeconfigFacts;
  if (facts === undefined) return before;
  const entry = (component: string, old: Tracked | undefined): ReturnType<typeof secret> | undefined => {
    const fact = facts[component];
    return fact === undefined ? undefined : secret(old, fact, now);
  };
  return {
    admin: entry('admin-kubeconfig', before?.admin),
    controllerManager: entry('controller-manager-kubeconfig', before?.controllerManager),
    scheduler: entry('scheduler-kubeconfig', before?.scheduler),
  };
}

/** The encryption of the data after the reconcile. */
export function encryptionAfter({
  tcp,
  encryption,
  encryptionFindings,
}: Readonly<Scope>): Part<'encryption'> | undefined {
  const before = tcp.status?.encryption;
  // Nothing was ever configured, or the phase could not find out.
  if (encryption === undefined || (before === undefined && encryption.state.revision === 0)) return before;
  const findings = encryptionFindings ?? findingsBefore(before, encryption);
  return encryptionStatus(encryption, wantedEncryption(tcp.spec.kubernetes.encryption), findings);
}

/** The record of the migration after the reconcile. */
export function migrationAfter({ tcp, migration }: Readonly<Scope>): MigrationStatus | undefined {
  return migration?.record ?? tcp.status?.storage?.migration;
}

/** Where a drain of its DataStore has moved the tenant. */
function drained({ tcp, drain }: Readonly<Scope>): Pick<Part<'storage'>, 'drain'> {
  const record = drain === undefined ? tcp.status?.storage?.drain : drain.record;
  return record === undefined ? {} : { drain: record };
}

/** What migrations record in the status. */
function migrations(scope: Readonly<Scope>): Pick<Part<'storage'>, 'migration' | 'previous'> {
  const migration = migrationAfter(scope);
  const before = scope.previous ?? scope.tcp.status?.storage?.previous ?? [];
  const left = scope.migration?.leftBehind;
  const previous = left === undefined ? before : [...before, left];
  return { migration, ...(previous.length > 0 && { previous }) };
}

/** The tenancies of overrides: those recorded or about to be created, and those that are not removed yet. */
function overrides({ scope, now }: StatusInput): Pick<Part<'storage'>, 'overrides' | 'overridesCertificate'> {
  const before = scope.tcp.status?.storage;
  const { overridePlan: plan, overrides: made, overridesLeft } = scope;
  const shares = overridesLeft ?? plan?.shares ?? before?.overrides ?? [];
  const list = shares.map((share) => {
    const setup = plan?.wanted.includes(share) === true ? made?.setups.get(share.dataStoreName) : undefined;
    return setup === undefined ? share : { ...share, ...tracked(share, setup, now) };
  });
  const certificate =
    made?.certificate === undefined
      ? before?.overridesCertificate
      : secret(before?.overridesCertificate, made.certificate, now);
  if (list.length === 0) return {};
  return { overrides: list, overridesCertificate: certificate };
}

function deploymentStatus({ scope, now }: StatusInput): Resources['deployment'] {
  const { tcp } = scope;
  const live = scope.deployment ?? scope.observed.deployment;
  const before = tcp.status?.kubernetesResources?.deployment;
  if (live === undefined) return before;
  // The server's own JSON, in which times are strings.
  const counts = live.status as Partial<NonNullable<Resources['deployment']>> | undefined;
  const after = {
    ...counts,
    generation: live.metadata.generation,
    selector: podSelectorText(tcp),
    name: tenantObjects(tcp.metadata.name).deployment,
    namespace: tcp.metadata.namespace,
  };
  const { lastUpdate, ...old } = before ?? {};
  const unchanged = JSON.stringify(sorted(old)) === JSON.stringify(sorted(after));
  return { ...after, lastUpdate: unchanged && lastUpdate !== undefined ? lastUpdate : seconds(now) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  );
}

function serviceStatus({ scope }: StatusInput): Resources['service'] {
  const live = scope.service ?? scope.observed.service;
  if (live === undefined) return scope.tcp.status?.kubernetesResources?.service;
  const port = live.spec?.ports?.find(({ name }) => name === ports.apiServer) ?? live.spec?.ports?.[0];
  return {
    ...(live.status as Partial<NonNullable<Resources['service']>> | undefined),
    name: live.metadata.name,
    namespace: live.metadata.namespace,
    port: port?.port ?? 0,
  };
}

/** The state of the control plane after a reconcile. */
export function findState(scope: Readonly<Scope>): StateFinding {
  const { tcp, versions } = scope;
  const deployment = scope.deployment ?? scope.observed.deployment;
  const before = tcp.status?.kubernetesResources?.version;
  return controlPlaneState({
    replicas: wantedReplicas(tcp, deployment),
    // What is not a version stays: `versions.refusal` reports it.
    installed: versions.installed === undefined ? before?.version : versionText(versions.installed),
    applied: scope.deployment === undefined ? undefined : versionText(targetVersion(scope)),
    deployment,
    usable: scope.tenantPrepared === true,
    limited: scope.writesDenied === true,
    migrating: isFrozen(migrationAfter(scope)),
    rotating: scope.authorities?.rotated === true || before?.status === 'CertificateAuthorityRotating',
  });
}

function resources(input: StatusInput): Resources {
  const { state, installed } = input.state;
  const { publication, tcp } = input.scope;
  const before = tcp.status?.kubernetesResources ?? {};
  // If routes cannot be created, the recorded status of the others stays.
  const kept = publication?.made === undefined ? before : without(before, 'ingress', 'gateway');
  return {
    ...kept,
    ...publication?.status,
    version: { status: state, version: installed },
    deployment: deploymentStatus(input),
    service: serviceStatus(input),
  };
}

/** The whole status after a reconcile. What the reconcile could not find out is unchanged. */
export function status(input: StatusInput): TenantControlPlaneStatus {
  const { scope, conditions, now } = input;
  const { tcp, endpoint, kubeadmConfig, bootstrapChecksum } = scope;
  const before = tcp.status;
  return {
    ...before,
    observedGeneration: tcp.metadata.generation,
    conditions,
    kubernetesResources: resources(input),
    storage: storage(input),
    certificates: certificates(input),
    sleep: withPort(withFirstReady(before?.sleep, isTrue(conditions, 'Ready'), now), scope.activator),
    use: useStatusAfter(tcp, scope.sleep?.use, scope.backgroundFlowRemoved === true),
    encryption: encryptionAfter(scope),
    quota: quotaStatusAfter(before?.quota, scope.quota),
    kubeconfig: kubeconfigs(input),
    addons: addonsStatus(addons, scope, { secret: (old, fact) => secret(old, fact, now), at: seconds(now) }),
    controlPlaneEndpoint:
      endpoint === undefined ? before?.controlPlaneEndpoint : joinHostPort(endpoint.host, endpoint.hostPort),
    kubeadmconfig:
      kubeadmConfig === undefined
        ? before?.kubeadmconfig
        : { configmapName: kubeadmConfig.name, ...tracked(before?.kubeadmconfig, kubeadmConfig.checksum, now) },
    kubeadmPhase:
      bootstrapChecksum === undefined
        ? before?.kubeadmPhase
        : { bootstrapToken: tracked(before?.kubeadmPhase?.bootstrapToken, bootstrapChecksum, now) },
  };
}

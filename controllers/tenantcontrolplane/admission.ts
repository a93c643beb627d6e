import { listAdmissionControllers } from '../../api/embedded/admission-controllers.ts';
import type { AdmissionController } from '../../api/embedded/admission-controllers.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { defaultDnsServiceIp } from '../../kubeadm/networks.ts';
import { versionWarnings } from '../../kubeadm/versions.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { addons } from './addons/registry.ts';
import { validateAddons } from './addons/validate-addons.ts';
import { validateBoundaries } from './workload/boundaries.ts';
import type { Boundaries } from './workload/boundaries.ts';
import { validateImages } from './workload/validate-images.ts';
import { migrationWarnings, validateMigration } from './datastore/migration/validate-migration.ts';
import type { DataStoreTroubles } from './datastore/migration/validate-migration.ts';
import { drainWarnings } from './datastore/drain/drain-warnings.ts';
import { validateNetwork } from './endpoint/validate-network.ts';
import { ownNamespaceOnly } from './endpoint/reach/reach.ts';
import type { Reach } from './endpoint/reach/reach.ts';
import { validatePlacement, placementWarnings } from './datastore/placement/validate-placement.ts';
import { asksForHost, validatePublication } from './endpoint/exposure/validate-exposure.ts';
import type { GatewayApi } from './endpoint/exposure/validate-exposure.ts';
import type { DataStoreDrivers, DataStoreRefusals } from './datastore/data-store-drivers.ts';
import { validateAutoscaling } from './workload/horizontal-pod-autoscaler.ts';
import { validatePods } from './workload/validate-pods.ts';
import { validateSecurityContexts } from './workload/validate-security-contexts.ts';
import { programs } from './addons/programs.ts';
import { serversOf } from './shared/addon-server.ts';
import { tenantNetworks } from './shared/tenant-networks.ts';
import { validateRetention } from './adoption/validate-retention.ts';
import { asksForDnsNames, validateReach } from './endpoint/reach/validate-reach.ts';
import { validateRotation } from './certificates/rotation/validate-rotation.ts';
import { validateStore } from './datastore/validate-store.ts';
import { validateConfiguration } from './configuration/validate-configuration.ts';
import { validateVersion } from './upgrade/validate-version.ts';
import { validateEncryption } from './encryption/validate-encryption.ts';
import { validateQuota } from './quota/validate-quota.ts';
import { validateSleep } from './sleep/validate-sleep.ts';
import { validateKubelet } from './tenant/validate-kubelet.ts';

const servers = serversOf(addons);

/** A request to admission: a new object, or one that replaces `old`. */
export interface TenantAdmission {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old?: TenantControlPlane | undefined;
  /** The drivers of the DataStores that exist, by name. */
  readonly drivers: DataStoreDrivers;
  /** Why some of them cannot be used, by name. */
  readonly troubles?: DataStoreTroubles;
  /** Why some of them do not accept tenants from the namespace. */
  readonly refusals?: DataStoreRefusals;
  /** DataStores that are being drained. */
  readonly drained?: ReadonlySet<string>;
  /** Which parts of Gateway API the cluster has; absent where that was not checked. */
  readonly gatewayApi?: GatewayApi | undefined;
  /** All control planes; absent where they were not listed. */
  readonly tenants?: readonly TenantControlPlane[] | undefined;
  /** The newest hosted minor of Kubernetes 1; defaults to the newest tested one. */
  readonly newestMinor?: number;
  /** How much the author may do; absent where that is validated elsewhere. */
  readonly boundaries?: Boundaries | undefined;
  /** How much control planes may affect outside their namespaces; as little as possible by default. */
  readonly reach?: Reach;
  /** From when on the times of schedules must come; the time of the machine by default. */
  readonly now?: Date;
}

/** Settings of the operator that are not in the schema. */
export interface DefaultingOptions {
  /** Name for objects that name no DataStore; empty for none. */
  readonly defaultDataStore: string;
}

/** What defaults depend on. */
type Defaulted = Pick<TenantControlPlane, 'spec' | 'status'>;

/**
 * The object with defaults for what its author left open: the default DataStore, the DNS address of the service network, and the
 * list form of the admission plugins. Returns the same object when nothing is open. The names in the datastore are not chosen
 * here: they come from the UID, which an object gets later.
 */
export function withDefaults<T extends Defaulted>(tcp: T, options: DefaultingOptions): T {
  const { spec } = tcp;
  const isOpen = (spec.dataStore ?? '') === '' && spec.dataStoreSelector === undefined;
  // A tenant that was placed before a default was set would otherwise be migrated to the default.
  const dataStore =
    isOpen && options.defaultDataStore !== '' && dataStoreName(tcp, '') === '' ? options.defaultDataStore : undefined;
  const plugins =
    typeof spec.kubernetes.admissionControllers === 'string'
      ? (listAdmissionControllers(spec.kubernetes.admissionControllers) as readonly AdmissionController[])
      : undefined;
  const dns = dnsAddresses(tcp);
  if (dataStore === undefined && plugins === undefined && dns === undefined) return tcp;
  return {
    ...tcp,
    spec: {
      ...spec,
      ...(dataStore !== undefined && { dataStore }),
      ...(plugins !== undefined && { kubernetes: { ...spec.kubernetes, admissionControllers: plugins } }),
      ...(dns !== undefined && { networkProfile: { ...spec.networkProfile, dnsServiceIPs: dns } }),
    },
  };
}

/** The default DNS address; undefined if the author set one, or if the network is invalid, which validation reports. */
function dnsAddresses({ spec }: Defaulted): readonly string[] | undefined {
  if ((spec.networkProfile.dnsServiceIPs ?? []).length > 0) return undefined;
  try {
    return [defaultDnsServiceIp(tenantNetworks({ spec }).services.value)];
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

function validateName({ metadata }: TenantControlPlane): readonly InvalidInput[] {
  const { name, generateName = '' } = metadata;
  // The name is also that of a Service, and a label's value. The API server appends five characters to a generateName.
  if (name === '' && /^[a-z][-a-z0-9]{0,57}$/.test(generateName)) return [];
  if (/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return [];
  const reason = 'is not a DNS-1035 label, which the name of its Service must be';
  const remedy = 'use at most 63 lower-case letters, digits and dashes; begin with a letter and do not end with a dash';
  return [{ field: 'metadata.name', value: name, reason, remedy }];
}

/**
 * All validation errors of an object, on creation and on every update. An object that is being deleted is not validated: only its
 * finalizers still change.
 */
export function validate(request: TenantAdmission): readonly InvalidInput[] {
  const { tcp, old } = request;
  if (tcp.metadata.deletionTimestamp !== undefined) return [];
  const { now = new Date() } = request;
  return [
    ...(old === undefined ? validateName(tcp) : []),
    ...validateVersion(tcp, old, request.newestMinor),
    ...validatePlacement(tcp),
    ...validateStore({ ...request, old }),
    ...validateMigration({ ...request, old, troubles: request.troubles ?? new Map() }),
    ...validateNetwork(tcp),
    ...newOnes(
      validatePublication({ ...request, servers }),
      old === undefined ? [] : validatePublication({ ...request, servers, tcp: old, old }),
    ),
    ...newOnes(validateAddons(addons, tcp), old === undefined ? [] : validateAddons(addons, old)),
    ...validatePods(tcp),
    ...validateSecurityContexts(tcp),
    ...newOnes(validateAutoscaling(tcp), old === undefined ? [] : validateAutoscaling(old)),
    ...newOnes(validateImages(tcp, addons), old === undefined ? [] : validateImages(old, addons)),
    ...(request.boundaries === undefined ? [] : validateBoundaries(tcp, old, { ...request.boundaries, programs })),
    ...validateReach({ tcp, old, servers, reach: request.reach ?? ownNamespaceOnly, tenants: request.tenants }),
    ...validateRetention(tcp),
    ...validateRotation(tcp, old),
    ...validateKubelet(tcp),
    ...newOnes(validateConfiguration(tcp), old === undefined ? [] : validateConfiguration(old)),
    ...newOnes(validateQuota(tcp), old === undefined ? [] : validateQuota(old)),
    ...newOnes(validateSleep(tcp, now), old === undefined ? [] : validateSleep(old, now)),
    ...newOnes(validateEncryption(tcp), old === undefined ? [] : validateEncryption(old)),
  ];
}

/** True when a change can conflict with other control planes, all of which must then be known. */
export function concernsOthers(change: Pick<TenantAdmission, 'tcp' | 'old'>): boolean {
  return asksForHost({ ...change, servers }) || asksForDnsNames(change);
}

/** Only the validation errors that the old object did not have: a stored object can be changed in other respects. */
function newOnes(now: readonly InvalidInput[], before: readonly InvalidInput[]): readonly InvalidInput[] {
  const known = new Set(before.map((invalid) => JSON.stringify(invalid)));
  return now.filter((invalid) => !known.has(JSON.stringify(invalid)));
}

/** Warnings about an admitted object. */
export function warningsAbout(tcp: TenantControlPlane, stores: readonly DataStore[] = []): readonly string[] {
  if (tcp.metadata.deletionTimestamp !== undefined) return [];
  return [
    ...placementWarnings(tcp),
    ...drainWarnings(tcp, stores),
    ...migrationWarnings(tcp),
    ...versionWarnings(tcp.spec.kubernetes.version, 'spec.kubernetes.version'),
  ];
}

import { listAdmissionControllers } from '../../api/embedded/admission-controllers.ts';
import type { AdmissionController } from '../../api/embedded/admission-controllers.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { defaultDnsServiceIp } from '../../kubeadm/networks.ts';
import { versionWarnings } from '../../kubeadm/versions.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { boundaryComplaints } from './validation/boundaries.ts';
import type { Boundaries } from './validation/boundaries.ts';
import { imageComplaints } from './validation/image-complaints.ts';
import { konnectivityComplaints } from './validation/konnectivity-complaints.ts';
import { migrationComplaints } from './validation/migration-complaints.ts';
import type { DataStoreTroubles } from './validation/migration-complaints.ts';
import { networkComplaints } from './validation/network-complaints.ts';
import { ownNamespaceOnly } from './components/reach/reach.ts';
import type { Reach } from './components/reach/reach.ts';
import { placementComplaints, placementWarnings } from './validation/placement-complaints.ts';
import { publicationComplaints } from './validation/publication-complaints.ts';
import type { GatewayApi } from './validation/publication-complaints.ts';
import type { DataStoreDrivers, DataStoreRefusals } from './validation/data-store-drivers.ts';
import { podComplaints } from './validation/pod-complaints.ts';
import { reachComplaints } from './validation/reach-complaints.ts';
import { rotationComplaints } from './validation/rotation-complaints.ts';
import { storeComplaints } from './validation/store-complaints.ts';
import { tcpProxyComplaints } from './validation/tcp-proxy-complaints.ts';
import { trustdComplaints } from './validation/trustd-complaints.ts';
import { versionComplaints } from './validation/version-complaints.ts';
import { workerComplaints } from './validation/worker-complaints.ts';

/** What the API server asks: a new object, or one that takes the place of `old`. */
export interface AdmissionQuestion {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old?: TenantControlPlane | undefined;
  /** The drivers of the DataStores that exist, by name. */
  readonly drivers: DataStoreDrivers;
  /** Why those of them that cannot be used cannot. */
  readonly troubles?: DataStoreTroubles;
  /** Why some of them take no tenants of the namespace. */
  readonly refusals?: DataStoreRefusals;
  /** What the cluster has of Gateway API; absent where it was not asked. */
  readonly gatewayApi?: GatewayApi | undefined;
  /** All control planes that there are; absent where they were not asked for. */
  readonly tenants?: readonly TenantControlPlane[] | undefined;
  /** The last minor of Kubernetes 1 that is hosted; the newest that is tested unless said. */
  readonly newestMinor?: number;
  /** How far its author may go; absent where that is judged elsewhere. */
  readonly boundaries?: Boundaries | undefined;
  /** What may be seen of control planes outside their namespaces; as little as possible unless said. */
  readonly reach?: Reach;
}

/** What the operator knows better than the schema. */
export interface DefaultingOptions {
  /** Name for objects that name no DataStore; empty for none. */
  readonly defaultDataStore: string;
}

/**
 * The object with what its author left open: the operator's DataStore, the DNS address of the service network, and the list
 * form of the admission plugins. The very same object when nothing is open. The names in the store are not chosen here: they
 * come from the UID, which an object gets later.
 */
export function withDefaults(tcp: TenantControlPlane, options: DefaultingOptions): TenantControlPlane {
  const { spec } = tcp;
  const isOpen = (spec.dataStore ?? '') === '' && spec.dataStoreSelector === undefined;
  // One that was placed before there was a default would be moved there.
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

/** The default DNS address, or undefined when the author gave one or the network is unreadable: then validation says so. */
function dnsAddresses({ spec }: TenantControlPlane): readonly string[] | undefined {
  if ((spec.networkProfile.dnsServiceIPs ?? []).length > 0) return undefined;
  try {
    return [defaultDnsServiceIp(spec.networkProfile.serviceCidr)];
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

function nameComplaints({ metadata }: TenantControlPlane): readonly InvalidInput[] {
  const { name = '', generateName = '' } = metadata;
  // The name is also that of a Service, and a label's value. The API server appends five characters to a generateName.
  if (name === '' && /^[a-z][-a-z0-9]{0,57}$/.test(generateName)) return [];
  if (/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return [];
  const reason = 'is not a DNS-1035 label, and a Service must be able to have this name';
  const remedy = 'use at most 63 lower-case letters, digits and dashes, a letter first and no dash last';
  return [{ field: 'metadata.name', value: name, reason, remedy }];
}

/**
 * Everything that is wrong with an object, on creation and on every update. An object that is being deleted is let pass:
 * only its finalizers still change.
 */
export function complaintsAbout(question: AdmissionQuestion): readonly InvalidInput[] {
  const { tcp, old } = question;
  if (tcp.metadata.deletionTimestamp !== undefined) return [];
  return [
    ...(old === undefined ? nameComplaints(tcp) : []),
    ...versionComplaints(tcp, old, question.newestMinor),
    ...placementComplaints(tcp),
    ...storeComplaints({ tcp, old, drivers: question.drivers, refusals: question.refusals }),
    ...migrationComplaints({ tcp, old, drivers: question.drivers, troubles: question.troubles ?? new Map() }),
    ...networkComplaints(tcp),
    ...newOnes(
      exposureComplaints(question),
      old === undefined ? [] : exposureComplaints({ ...question, tcp: old, old }),
    ),
    ...newOnes(addonComplaints(tcp), old === undefined ? [] : addonComplaints(old)),
    ...podComplaints(tcp),
    ...newOnes(imageComplaints(tcp), old === undefined ? [] : imageComplaints(old)),
    ...(question.boundaries === undefined ? [] : boundaryComplaints(tcp, old, question.boundaries)),
    ...reachComplaints({ tcp, old, reach: question.reach ?? ownNamespaceOnly, tenants: question.tenants }),
    ...rotationComplaints(tcp, old),
    ...workerComplaints(tcp),
  ];
}

/** What is wrong with the ways to the API server besides its Service. */
function exposureComplaints({ tcp, old, gatewayApi, tenants }: AdmissionQuestion): readonly InvalidInput[] {
  return [...publicationComplaints({ tcp, old, gatewayApi, tenants }), ...konnectivityComplaints(tcp)];
}

/** What is wrong with add-ons that nothing acted upon when they were stored, perhaps. */
function addonComplaints(tcp: TenantControlPlane): readonly InvalidInput[] {
  return [...trustdComplaints(tcp), ...tcpProxyComplaints(tcp)];
}

/** Complaints that were not true before: an object that is stored can be changed in other respects. */
function newOnes(now: readonly InvalidInput[], before: readonly InvalidInput[]): readonly InvalidInput[] {
  const known = new Set(before.map((complaint) => JSON.stringify(complaint)));
  return now.filter((complaint) => !known.has(JSON.stringify(complaint)));
}

/** What a person should know of an object that is admitted. */
export function warningsAbout(tcp: TenantControlPlane): readonly string[] {
  if (tcp.metadata.deletionTimestamp !== undefined) return [];
  return [...placementWarnings(tcp), ...versionWarnings(tcp.spec.kubernetes.version, 'spec.kubernetes.version')];
}

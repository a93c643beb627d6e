import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { dataStoreName } from '../../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isAsleep, replicasNow } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { joinHostPort } from '../../../kubeadm/networks.ts';
import { readVersion, versionText } from '../../../kubeadm/versions.ts';
import { clusterOf } from '../control-plane/find-control-plane.ts';

/** One control plane in a table. */
export interface ControlPlaneRow {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly pods: string;
  readonly endpoint: string;
  readonly dataStore: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Why it sleeps, and since when, if that was recorded; absent for one that is awake. */
  readonly asleep?: { readonly reason: string; readonly since: string | undefined };
  readonly created: string | undefined;
  /** Name of the Cluster, if Cluster API manages the control plane. */
  readonly cluster: string;
  readonly object: TenantControlPlane | StewardControlPlane;
}

/** Every control plane once: TenantControlPlanes, and StewardControlPlanes whose TenantControlPlane is not in this cluster. */
export function controlPlaneRows(
  tenants: readonly TenantControlPlane[],
  parents: readonly StewardControlPlane[],
): readonly ControlPlaneRow[] {
  const owners = new Map(parents.map((parent) => [parent.metadata.uid, parent]));
  const parentOf = (tenant: TenantControlPlane): StewardControlPlane | undefined =>
    (tenant.metadata.ownerReferences ?? []).map(({ uid }) => owners.get(uid)).find((found) => found !== undefined);
  const local = tenants.map((tenant) => tenantRow(tenant, parentOf(tenant)));
  const seen = new Set(tenants.map((tenant) => parentOf(tenant)?.metadata.uid));
  const elsewhere = parents.filter(({ metadata }) => !seen.has(metadata.uid)).map(parentRow);
  const place = ({ namespace, name }: ControlPlaneRow): string => `${namespace}/${name}`;
  return [...local, ...elsewhere].sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

function tenantRow(tenant: TenantControlPlane, parent: StewardControlPlane | undefined): ControlPlaneRow {
  const { metadata, spec, status } = tenant;
  const { version, deployment } = status?.kubernetesResources ?? {};
  return {
    ...commonPart(tenant),
    version: versionCell(version?.version, spec.kubernetes.version),
    pods: `${deployment?.readyReplicas ?? 0}/${replicasNow(tenant)}`,
    endpoint: status?.controlPlaneEndpoint ?? '',
    dataStore: dataStoreName(tenant, ''),
    ...(isAsleep(tenant) && { asleep: asleepPart(tenant) }),
    created: metadata.creationTimestamp,
    cluster: parent === undefined ? '' : (clusterOf(parent) ?? ''),
    object: tenant,
  };
}

function asleepPart({ status }: TenantControlPlane): ControlPlaneRow['asleep'] {
  const asleep = status?.conditions?.find((one) => one.type === 'Asleep' && one.status === 'True');
  // One with 0 replicas needs no condition for that.
  return { reason: asleep?.reason ?? 'Requested', since: status?.sleep?.since };
}

function parentRow(parent: StewardControlPlane): ControlPlaneRow {
  const { metadata, spec, status } = parent;
  const { host = '', port = 0 } = spec.controlPlaneEndpoint ?? {};
  return {
    ...commonPart(parent),
    version: versionCell(status?.version, spec.version),
    pods: `${status?.readyReplicas ?? 0}/${spec.replicas}`,
    endpoint: host === '' ? '' : joinHostPort(host, port),
    dataStore: spec.dataStoreName ?? '',
    created: metadata.creationTimestamp,
    cluster: clusterOf(parent) ?? '',
    object: parent,
  };
}

function commonPart(
  object: TenantControlPlane | StewardControlPlane,
): Pick<ControlPlaneRow, 'namespace' | 'name' | 'ready' | 'reason' | 'message'> {
  const { metadata, status } = object;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const { namespace = '', name } = metadata as { readonly namespace?: string; readonly name: string };
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return {
    namespace,
    name,
    ready: ready?.status ?? 'Unknown',
    reason: isDeleting ? 'Deleting' : (ready?.reason ?? 'NotReported'),
    message: ready?.message ?? '',
  };
}

/** The installed version, and the wanted one if it is another. */
function versionCell(installed: string | undefined, wanted: string): string {
  const read = readVersion(wanted);
  const normal = read === undefined ? wanted : versionText(read);
  if (installed === undefined || installed === '') return `(${normal})`;
  return installed === normal ? installed : `${installed} (${normal})`;
}

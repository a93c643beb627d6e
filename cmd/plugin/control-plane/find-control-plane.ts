import { clusterNameLabel, topologyOwnedLabel } from '../../../api/cluster-api/names.ts';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';

/** A control plane: its TenantControlPlane, its StewardControlPlane, or both. */
export interface ControlPlane {
  readonly name: string;
  readonly namespace: string;
  /** Absent if it is on a hosting cluster, or was not created yet. */
  readonly tenant?: TenantControlPlane;
  /** Present if Cluster API manages the control plane. */
  readonly parent?: StewardControlPlane;
}

/** A control plane that is in this cluster. */
export type LocalControlPlane = ControlPlane & { readonly tenant: TenantControlPlane };

type Reading = Pick<ManagementCluster, 'cluster' | 'namespace' | 'signal'>;

/**
 * The control plane of this name: of a TenantControlPlane, of a StewardControlPlane, or of the Cluster that it is for, whose name is the
 * one that people know when a topology has created the others. A prefix such as `tcp/` is allowed.
 * @throws PluginError if there is none.
 */
export async function findControlPlane(given: string, reading: Reading): Promise<ControlPlane> {
  const { cluster, namespace, signal } = reading;
  const name = given.replace(/^[a-z.]+\//, '');
  const key = { namespace, name };
  const [tenant, named] = await Promise.all([
    cluster.get(tenantControlPlane, key, { signal }),
    cluster.get(stewardControlPlane, key, { signal }),
  ]);
  if (tenant !== undefined) return { name, namespace, tenant, ...(isOwned(tenant, named) && { parent: named }) };
  const parent = named ?? (await ofCluster(name, reading));
  if (parent === undefined) {
    throw new PluginError(
      `there is no TenantControlPlane, StewardControlPlane or Cluster "${name}" in namespace ${namespace}; kubectl steward get -A lists all`,
      exitCodes.absent,
    );
  }
  const own = { namespace, name: parent.metadata.name };
  const behind = named === undefined ? await cluster.get(tenantControlPlane, own, { signal }) : undefined;
  return { ...own, parent, ...(behind !== undefined && isOwned(behind, parent) && { tenant: behind }) };
}

function isOwned(tenant: TenantControlPlane, parent: StewardControlPlane | undefined): boolean {
  const owners = tenant.metadata.ownerReferences ?? [];
  return parent !== undefined && owners.some(({ uid }) => uid === parent.metadata.uid);
}

async function ofCluster(
  name: string,
  { cluster, namespace, signal }: Reading,
): Promise<StewardControlPlane | undefined> {
  const labelSelector = `${clusterNameLabel}=${name}`;
  const { items } = await orNothing(cluster.list(stewardControlPlane, { namespace, labelSelector, signal }));
  return items[0];
}

/** An empty list if the kind is not installed: Steward works without Cluster API. */
export async function orNothing<T>(
  list: Promise<{ readonly items: readonly T[] }>,
): Promise<{ readonly items: readonly T[] }> {
  try {
    return await list;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return { items: [] };
    throw error;
  }
}

/** The Cluster that a StewardControlPlane is for. */
export function clusterOf({ metadata }: StewardControlPlane): string | undefined {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === capiCluster.kind);
  return owner?.name ?? metadata.labels?.[clusterNameLabel];
}

/** The Cluster whose topology writes the spec of the control plane, and would undo a change of it. */
export function topologyOf({ parent }: ControlPlane): string | undefined {
  if (parent?.metadata.labels?.[topologyOwnedLabel] === undefined) return undefined;
  return clusterOf(parent);
}

/**
 * Requires a control plane that is in this cluster.
 * @throws PluginError for one that is on a hosting cluster.
 */
export function requireLocal(plane: ControlPlane): LocalControlPlane {
  const { tenant, name, parent } = plane;
  if (tenant !== undefined) return { ...plane, tenant };
  const isElsewhere = parent?.spec.deployment?.externalClusterReference !== undefined;
  throw new PluginError(
    isElsewhere
      ? `the TenantControlPlane of StewardControlPlane ${name} is on a hosting cluster: run this command with the kubeconfig of that cluster`
      : `StewardControlPlane ${name} has no TenantControlPlane yet; kubectl describe stcp ${name} says what it waits for`,
    exitCodes.absent,
  );
}

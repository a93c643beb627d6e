import type { KindRef } from '../../../api/meta.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { PluginError } from '../frame/plugin-error.ts';
import { objectName } from '../output/print-objects.ts';
import { topologyOf } from './find-control-plane.ts';
import type { ControlPlane } from './find-control-plane.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A change of a control plane, as it is written to each kind of object that may hold the field. */
export interface ControlPlaneChange {
  /** Merge patch of a TenantControlPlane without a StewardControlPlane. */
  readonly tenant: Fields;
  /** Merge patch of a StewardControlPlane, which changes its TenantControlPlane. */
  readonly parent: Fields;
  /** What has to be changed by hand if a topology writes the StewardControlPlane. Absent for what a topology does not write. */
  readonly topology?: (cluster: string) => string;
}

/**
 * Field manager of what the plugin writes. Flux takes back what managers have set whose names begin with `kubectl`: that would end
 * a rotation in the middle.
 */
export const pluginFieldManager = 'steward-plugin';

/** A merge patch of a Cluster, as a command to copy. */
export function clusterPatchCommand(namespace: string, cluster: string, patch: Fields): string {
  return `kubectl -n ${namespace} patch cluster ${cluster} --type merge --patch '${JSON.stringify(patch)}'`;
}

/**
 * Writes a change where it stays: to the StewardControlPlane if there is one, or else to the TenantControlPlane. Returns the name of
 * what was changed.
 * @throws PluginError if a topology would undo the change; the message says what to change instead.
 */
export async function changeControlPlane(
  plane: ControlPlane,
  change: ControlPlaneChange,
  { cluster, signal }: Pick<ManagementCluster, 'cluster' | 'signal'>,
): Promise<string> {
  const { name, namespace, parent } = plane;
  const topology = topologyOf(plane);
  if (topology !== undefined && change.topology !== undefined) {
    throw new PluginError(
      `Cluster ${topology} has a topology, which would undo a change of StewardControlPlane ${name}: ${change.topology(topology)}`,
    );
  }
  const kind: KindRef = parent === undefined ? tenantControlPlane : stewardControlPlane;
  const body = parent === undefined ? change.tenant : change.parent;
  const options = { fieldManager: pluginFieldManager, signal };
  await cluster.patch(kind, { namespace, name }, { type: 'merge', body }, options);
  return objectName(kind, name);
}

import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { servedCluster } from './cluster-of.ts';
import type { Dependencies } from '../dependencies.ts';
import { isExternal } from '../hosting/reference.ts';

/**
 * Name of the Cluster of a TenantControlPlane; undefined if it has none. The TenantControlPlane itself proves nothing,
 * because its author writes it: a StewardControlPlane with the referenced UID and the same name must exist, and the Cluster
 * must reference it as its control plane. Otherwise an author of a TenantControlPlane would get the CA of someone else's
 * Cluster.
 */
export async function clusterOfTenant(
  deps: Pick<Dependencies, 'cluster'>,
  { metadata }: TenantControlPlane,
  ctx: Pick<Context, 'signal'>,
): Promise<string | undefined> {
  const { namespace, name } = metadata;
  const { group, kind } = stewardControlPlane;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== kind || !owner.apiVersion.startsWith(`${group}/`) || owner.name !== name) return undefined;
  const scp = await deps.cluster.get(stewardControlPlane, { namespace, name }, { signal: ctx.signal });
  if (scp?.metadata.uid !== owner.uid || isExternal(scp)) return undefined;
  const { cluster } = await servedCluster(deps, scp, ctx);
  return cluster?.metadata.name;
}

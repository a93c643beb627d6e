import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { servedCluster } from './cluster-of.ts';
import type { Dependencies } from '../dependencies.ts';
import { isExternal } from '../hosting/reference.ts';

/**
 * Name of the Cluster that a TenantControlPlane is for; undefined when it is for none. What it says of itself is no proof, since its
 * author writes it: the StewardControlPlane must be there under the UID that it names and under its own name, and the Cluster must
 * name that one as its control plane. Else whoever makes a TenantControlPlane would be given the authority of another's Cluster.
 */
export async function clusterOfTenant(
  deps: Pick<Dependencies, 'cluster'>,
  { metadata }: TenantControlPlane,
  ctx: Pick<Context, 'signal'>,
): Promise<string | undefined> {
  const { namespace = '', name = '' } = metadata;
  const { group, kind } = stewardControlPlane;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== kind || !owner.apiVersion.startsWith(`${group}/`) || owner.name !== name) return undefined;
  const scp = await deps.cluster.get(stewardControlPlane, { namespace, name }, { signal: ctx.signal });
  if (scp?.metadata.uid !== owner.uid || isExternal(scp)) return undefined;
  const { cluster } = await servedCluster(deps, scp, ctx);
  return cluster?.metadata.name;
}

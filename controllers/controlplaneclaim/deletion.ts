import { labels } from '../../api/names.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Dependencies } from './dependencies.ts';
import { ownControlPlane, removeSurplus } from './take.ts';

/** The finalizer with which kubectl asks for dependents to be left, by `--cascade=orphan`. */
const orphanFinalizer = 'orphan';

/**
 * Deletes or retains the control plane of a claim; the name of the one that is still to go, or undefined once nothing is left to do. What is
 * retained has no owner before the claim is gone, so that nothing collects it.
 */
export async function endClaim(
  claim: ControlPlaneClaim,
  { cluster }: Pick<Dependencies, 'cluster'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const own = await ownControlPlane(claim, { cluster }, signal);
  if (own === undefined) return undefined;
  await removeSurplus(own, { cluster }, signal);
  const { tcp } = own;
  const { namespace, name, uid } = tcp.metadata;
  const key = { namespace, name };
  const isRetained = claim.spec.deletionPolicy === 'Retain' || claim.metadata.finalizers?.includes(orphanFinalizer);
  if (isRetained === true) {
    await cluster.patch(tenantControlPlane, key, { type: 'merge', body: released(claim, tcp) }, { signal });
    return undefined;
  }
  if (tcp.metadata.deletionTimestamp === undefined) await cluster.delete(tenantControlPlane, key, { uid, signal });
  return name;
}

function released(claim: ControlPlaneClaim, { metadata }: TenantControlPlane): object {
  const { resourceVersion, ownerReferences = [] } = metadata;
  const others = ownerReferences.filter(({ uid }) => uid !== claim.metadata.uid);
  return { metadata: { resourceVersion, labels: { [labels.claimedBy]: null }, ownerReferences: others } };
}

import type { ObjectMeta, OwnerReference } from '../../../meta.ts';
import { stewardGroup } from '../../../names.ts';
import { controlPlaneClaim } from './control-plane-claim.ts';

/**
 * The object that decides about a TenantControlPlane: its controller, such as a StewardControlPlane, or a pool as long as nobody has claimed
 * it. A claim owns its control plane without changing it, so that users may do so.
 */
export function specOwner({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  const isClaim = controller?.kind === controlPlaneClaim.kind && controller.apiVersion.startsWith(`${stewardGroup}/`);
  return isClaim ? undefined : controller;
}

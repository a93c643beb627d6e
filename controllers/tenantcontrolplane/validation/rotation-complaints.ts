import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { refusalOf } from '../components/rotation/operations.ts';

/**
 * What is wrong with an operation that the annotation newly asks for. An object that is made brings along what was done elsewhere.
 * What an owner hands down is not refused here: it would ask again and again, until a completion that came too early is in time.
 * The controller refuses it for good.
 */
export function rotationComplaints(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
): readonly InvalidInput[] {
  const asked = tcp.metadata.annotations?.[annotations.operation];
  if (tcp.metadata.ownerReferences?.some(({ controller }) => controller === true) === true) return [];
  if (old === undefined || asked === undefined || asked === old.metadata.annotations?.[annotations.operation])
    return [];
  const refusal = refusalOf(asked, old.status?.certificates?.rotation);
  if (refusal === undefined) return [];
  return [{ field: `metadata.annotations[${annotations.operation}]`, value: asked, ...refusal }];
}

import { annotations } from '../../../../api/names.ts';
import { specOwner } from '../../../../api/steward/v1alpha1/pool/spec-owner.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { refusalOf } from './operations.ts';

/**
 * Validates an operation that the annotation newly requests. A new object may have the annotation from elsewhere, and is not
 * refused. Nor is an annotation that an owner passes on: the owner would retry endlessly, until a premature completion became
 * valid. The controller refuses such an operation for good.
 */
export function validateRotation(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
): readonly InvalidInput[] {
  const requested = tcp.metadata.annotations?.[annotations.operation];
  if (specOwner(tcp.metadata) !== undefined) return [];
  if (old === undefined || requested === undefined || requested === old.metadata.annotations?.[annotations.operation])
    return [];
  const refusal = refusalOf(requested, old.status?.certificates?.rotation);
  if (refusal === undefined) return [];
  return [{ field: `metadata.annotations[${annotations.operation}]`, value: requested, ...refusal }];
}

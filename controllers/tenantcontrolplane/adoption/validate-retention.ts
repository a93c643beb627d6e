import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** Refuses a deletion policy that does not exist: it would not retain the data that its author wants to retain. */
export function validateRetention({ metadata }: TenantControlPlane): readonly InvalidInput[] {
  const value = metadata.annotations?.[annotations.deletionPolicy];
  if (value === undefined || value === 'Retain' || value === 'Delete') return [];
  const field = `metadata.annotations[${annotations.deletionPolicy}]`;
  return [{ field, value, reason: 'is not a deletion policy', remedy: 'use Retain or Delete' }];
}

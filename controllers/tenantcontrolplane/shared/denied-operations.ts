import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

const operationOf = { blockCreation: 'CREATE', blockUpdate: 'UPDATE', blockDeletion: 'DELETE' } as const;

/** The denied operations, with the API server's names; none when nothing is limited. */
export function deniedOperations({ spec }: TenantControlPlane): readonly string[] {
  const limits = spec.writePermissions;
  return (['blockCreation', 'blockUpdate', 'blockDeletion'] as const).flatMap((field) =>
    limits?.[field] === true ? [operationOf[field]] : [],
  );
}

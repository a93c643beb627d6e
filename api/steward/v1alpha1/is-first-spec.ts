import type { TenantControlPlane } from './tenant-control-plane.ts';

/**
 * True if no other spec can have left anything inside the tenant: the object never had another one, and did not adopt the data of a
 * previous TenantControlPlane, in which objects for its spec may be.
 */
export function isFirstSpec({ metadata, status }: TenantControlPlane): boolean {
  return metadata.generation === 1 && status?.storage?.owner === undefined;
}

import type { TenantControlPlane } from './tenant-control-plane.ts';

/**
 * UID of the owner of the data: the TenantControlPlane itself, or the previous one whose data it has adopted, which only
 * the controller records in the status. Never that of an owner reference, which its author may write: it would open, and on
 * deletion remove, the data of the object with that UID.
 */
export function dataOwner({ metadata, status }: TenantControlPlane): string | undefined {
  return status?.storage?.owner ?? metadata.uid;
}

/** True once it is recorded where its data is. */
export function hasData({ status }: TenantControlPlane): boolean {
  return status?.storage?.setup?.schema !== undefined;
}

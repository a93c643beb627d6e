import { dataOwner, hasData } from './data-owner.ts';
import type { RetainedControlPlane } from './retained-control-plane.ts';
import { retainedTenant } from './retained-tenant.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';
import { UnreadableRecord } from './unreadable-record.ts';

/**
 * True if a TenantControlPlane is responsible for the retained data. The one that released the data is so again only once
 * it is named as the adopter: it may be gone soon.
 */
export function hasAdopted(retained: RetainedControlPlane, tcp: TenantControlPlane): boolean {
  const { uid } = tcp.metadata;
  if (!hasData(tcp)) return false;
  if (retained.spec.formerUID === uid) return retained.spec.adopterUID === uid;
  const former = retainedTenant(retained);
  return !(former instanceof UnreadableRecord) && dataOwner(tcp) === dataOwner(former);
}

import type { TenantControlPlane } from '../steward/v1alpha1/tenant-control-plane.ts';
import { keptTenant } from './kept-tenant.ts';
import type { StewardControlPlane } from './steward-control-plane.ts';
import { UnreadableRecord } from './unreadable-record.ts';

/**
 * True while a StewardControlPlane has on record data that this TenantControlPlane has: it was recorded of it, or it is the heir that
 * has taken it over and of which nobody has taken note yet. What an heir has of its own is not on record.
 */
export function keepsDataOf(keeper: StewardControlPlane, { metadata, status }: TenantControlPlane): boolean {
  const kept = keeper.status?.keptTenancy;
  if (kept === undefined) return false;
  if (kept.formerUID === metadata.uid) return true;
  if (kept.heirUID !== metadata.uid || status?.storage?.setup?.schema === undefined) return false;
  const former = keptTenant(keeper);
  if (former === undefined || former instanceof UnreadableRecord) return false;
  return status.storage.owner === (former.status?.storage?.owner ?? former.metadata.uid);
}

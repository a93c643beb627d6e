import type { TenantControlPlane } from '../steward/v1alpha1/tenant-control-plane.ts';
import { keptTenant } from './kept-tenant.ts';
import type { StewardControlPlane } from './steward-control-plane.ts';
import { UnreadableRecord } from './unreadable-record.ts';

/**
 * True while the retained record of a StewardControlPlane covers the data of this TenantControlPlane: the record was
 * made of it, or it is the successor that has adopted the data and the record has not been cleared yet. Data that a
 * successor created itself is not on record.
 */
export function keepsDataOf(retainer: StewardControlPlane, { metadata, status }: TenantControlPlane): boolean {
  const kept = retainer.status?.keptTenancy;
  if (kept === undefined) return false;
  if (kept.formerUID === metadata.uid) return true;
  if (kept.heirUID !== metadata.uid || status?.storage?.setup?.schema === undefined) return false;
  const former = keptTenant(retainer);
  if (former === undefined || former instanceof UnreadableRecord) return false;
  return status.storage.owner === (former.status?.storage?.owner ?? former.metadata.uid);
}

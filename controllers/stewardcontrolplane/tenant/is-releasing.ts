import { keepsDataOf } from '../../../api/controlplane/keeps-data-of.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/**
 * True when what is on record is to go from there: the TenantControlPlane whose data it is is there yet, and says that it answers for
 * the data itself. It waits for that, and passes nothing on meanwhile.
 */
export function isReleasing(scp: StewardControlPlane, tenant: TenantControlPlane | undefined): boolean {
  if (tenant?.metadata.deletionTimestamp === undefined) return false;
  const says = tenant.status?.conditions?.some(({ type, reason }) => type === 'Deleting' && reason === 'ReleasingData');
  return says === true && keepsDataOf(scp, tenant);
}

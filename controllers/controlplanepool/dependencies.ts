import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';

/** What the controller acts through. */
export interface Dependencies {
  readonly cluster: Cluster;
  /** All TenantControlPlanes, from a cache. */
  tenants(): readonly TenantControlPlane[];
  /** All ControlPlaneClaims, from a cache. */
  claims(): readonly ControlPlaneClaim[];
  /** The end of the name of a new control plane, of lower-case letters and digits; another one each time. */
  readonly newSuffix: () => string;
}

import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';

/** What the controller acts through. */
export interface Dependencies {
  readonly cluster: Cluster;
  /** All TenantControlPlanes, from a cache. */
  tenants(): readonly TenantControlPlane[];
  /** All ControlPlanePools, from a cache. */
  pools(): readonly ControlPlanePool[];
  /** All ControlPlaneClaims, from a cache. */
  claims(): readonly ControlPlaneClaim[];
  /** Called when a claim has its control plane and kubeconfig for the first time. */
  bound(claim: ControlPlaneClaim): void;
  /** Certificates with less left are renewed, in milliseconds. */
  readonly renewBeforeMs: number;
}

import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';

/** What the controller acts through. */
export interface Dependencies {
  readonly cluster: Cluster;
  /** The only namespace whose TenantControlPlanes are reconciled here; empty for all. */
  readonly namespace: string;
  /** Removes the data of a deleted TenantControlPlane from the datastores; returns what it waits for. */
  readonly removeData: (
    former: TenantControlPlane,
    ctx: Context,
  ) => Promise<{ readonly message: string; readonly afterMs?: number } | undefined>;
}

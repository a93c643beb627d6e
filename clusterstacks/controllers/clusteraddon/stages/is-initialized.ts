import type { CapiCluster } from '../../../../api/cluster-api/kinds.ts';
import { isTrue } from '../../../../runtime/reconcile/conditions.ts';

/** Whether the control plane of a Cluster has ever served. */
export function isInitialized({ status }: CapiCluster): boolean {
  return (
    status?.initialization?.controlPlaneInitialized === true || isTrue(status?.conditions, 'ControlPlaneInitialized')
  );
}

import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { controlPlaneClaimController } from '../../controllers/controlplaneclaim/controller.ts';
import { controlPlanePoolController } from '../../controllers/controlplanepool/controller.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/observe/metrics.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import { measureClaim } from './measure-claim.ts';
import { nameSuffix } from './name-suffix.ts';

/** What the controllers of pools and claims need. */
export interface PoolControllerOptions {
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Pick<Metrics, 'claimBound'>;
  /** Certificates with less left are renewed, in milliseconds. */
  readonly renewBeforeMs: number;
}

/** The controllers that prepare control planes, and give them to claims. */
export function poolControllers(options: PoolControllerOptions): readonly Controller[] {
  const { cluster, informers, clock, metrics, renewBeforeMs } = options;
  const lists = {
    tenants: () => informers.informer({ kind: tenantControlPlane }).list(),
    pools: () => informers.informer({ kind: controlPlanePool, optional: true }).list(),
    claims: () => informers.informer({ kind: controlPlaneClaim, optional: true }).list(),
  };
  const bound = measureClaim(clock, metrics);
  return [
    controlPlanePoolController({ cluster, newSuffix: nameSuffix, ...lists }),
    controlPlaneClaimController({ cluster, renewBeforeMs, bound, ...lists }),
  ];
}

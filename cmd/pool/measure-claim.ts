import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/observe/metrics.ts';

/** What measures how long a claim has waited, when it is bound. */
export function measureClaim(
  clock: Pick<Clock, 'now'>,
  metrics: Pick<Metrics, 'claimBound'>,
): (claim: Pick<ControlPlaneClaim, 'metadata'>) => void {
  return ({ metadata: { creationTimestamp } }) => {
    const seconds = (clock.now().getTime() - Date.parse(creationTimestamp ?? '')) / 1000;
    // The clock of the API server may be ahead.
    if (!Number.isNaN(seconds)) metrics.claimBound(Math.max(seconds, 0));
  };
}

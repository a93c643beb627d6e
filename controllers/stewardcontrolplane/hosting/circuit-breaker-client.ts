import { exponentialBackoff } from '../../../runtime/queue/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import { wrapCluster } from '../../../runtime/client/wrap-cluster.ts';

/** A client of a cluster that may be down for long. */
export interface CircuitBreakerClient extends Cluster {
  /** How long no request is let through, in milliseconds; 0 when the cluster responds. */
  restMs(): number;
}

/** One call may find out whether the cluster is back; the others fail within this time. In milliseconds. */
const probeMs = 10_000;

/**
 * The same client, but after a call without answer all calls fail at once for a while, which grows from 2 s to a minute; then one is let
 * through. A cluster that is gone must not hold the workers that serve all others. Watches have a pace of their own.
 */
export function circuitBreakerClient(
  cluster: Cluster,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
): CircuitBreakerClient {
  const backoff = exponentialBackoff({ firstMs: 2_000, capMs: 60_000, random });
  let failure: UnreachableError | undefined;
  let until = 0;
  const restMs = (): number => (failure === undefined ? 0 : Math.max(until - clock.monotonic(), 0));
  const answered = (): void => {
    failure = undefined;
    backoff.reset();
  };
  const guarded = wrapCluster(cluster, async ({ signal, send }) => {
    if (failure !== undefined) {
      if (restMs() > 0) throw new UnreachableError(failure.message, { cause: failure });
      until = clock.monotonic() + probeMs;
    }
    const before = failure;
    try {
      const answer = await send();
      answered();
      return answer;
    } catch (error) {
      if (!(error instanceof UnreachableError)) answered();
      // Calls that fail together count once.
      else if (signal?.aborted !== true && failure === before) {
        failure = error;
        until = clock.monotonic() + backoff.next();
      }
      throw error;
    }
  });
  return { ...guarded, restMs };
}

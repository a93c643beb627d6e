import type { Cluster } from './cluster.ts';
import { waitElsewhere } from '../queue/elsewhere.ts';
import { repeatable } from '../queue/repeats.ts';
import { wrapCluster } from './wrap-cluster.ts';

/**
 * The same client, for a server outside of the management cluster: the time that a reconcile waits for it is measured, and
 * a failed request can be repeated alone. `client` returns the client for each request, because a repeat may come when this
 * one is closed. Watches do not count as waiting.
 */
export function elsewhereCluster(cluster: Cluster, client: () => Cluster): Cluster {
  return wrapCluster(cluster, (request) =>
    repeatable((repeat) =>
      waitElsewhere((cut) => {
        const signals = [repeat ?? request.signal, cut].filter((one) => one !== undefined);
        return request.send({
          ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
          ...(repeat !== undefined && { at: client() }),
        });
      }),
    ),
  );
}

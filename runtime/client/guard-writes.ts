import type { Cluster } from './cluster.ts';
import { wrapCluster } from './wrap-cluster.ts';

/**
 * The same client, but `mayWrite` is called right before each write and throws if the process must not act anymore:
 * leadership may have ended between the decision and the request. Dry runs count as writes; reads do not.
 */
export function guardWrites(cluster: Cluster, mayWrite: () => void): Cluster {
  return wrapCluster(cluster, async ({ isWrite, send }) => {
    if (isWrite) mayWrite();
    return send();
  });
}

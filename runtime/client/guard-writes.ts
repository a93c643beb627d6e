import type { Cluster } from './cluster.ts';
import { wrapCluster } from './wrap-cluster.ts';

/** How writes are guarded. */
export interface GuardOptions {
  /**
   * Whether `mayWrite` is called once more at the socket: a process that hangs while requests wait for a connection must not send them when it
   * wakes up. False by default.
   */
  readonly atSocket?: boolean;
}

/**
 * The same client, but `mayWrite` is called right before each write and throws if the process must not act anymore:
 * leadership may have ended between the decision and the request. Dry runs count as writes; reads do not.
 */
export function guardWrites(cluster: Cluster, mayWrite: () => void, { atSocket = false }: GuardOptions = {}): Cluster {
  return wrapCluster(cluster, async ({ isWrite, send }) => {
    if (isWrite) mayWrite();
    return isWrite && atSocket ? send({ maySend: mayWrite }) : send();
  });
}

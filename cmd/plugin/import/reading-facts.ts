import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import type { World } from '../frame/world.ts';
import { askInside } from './ask-inside.ts';

/** What reads the facts of an import, and when. */
export interface ReadingFacts {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly now: Date;
  /** UID of the namespace `kube-system` of a tenant; undefined if its API server cannot be reached from here. */
  readonly insideOf: (name: string) => Promise<string | undefined>;
}

/** Each read has its own timeout. An API server of a tenant that does not answer at first gets no further requests. */
export function readingFacts(world: World, { cluster, namespace, signal }: ManagementCluster): () => ReadingFacts {
  let isAsked: boolean | undefined;
  const insideOf = async (name: string): Promise<string | undefined> => {
    if (isAsked === false) return undefined;
    const uid = await askInside({ namespace, name }, { world, cluster, signal });
    isAsked ??= uid !== undefined;
    return uid;
  };
  return () => ({ cluster, namespace, signal, now: world.clock.now(), insideOf });
}

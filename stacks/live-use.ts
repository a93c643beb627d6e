import { capiCluster, capiClusterClass } from '../api/cluster-api/kinds.ts';
import { clusterStackLabels } from '../api/clusterstack/names.ts';
import type { KindRef, Resource } from '../api/meta.ts';
import type { Cluster, ListOptions } from '../runtime/cluster.ts';
import { ApiError } from '../runtime/errors.ts';
import { releasesInUse } from './releases-in-use.ts';

/** Which releases Clusters use, in all namespaces, as the API server has it now. */
export async function liveUse(
  cluster: Pick<Cluster, 'list'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const read = async <T extends Resource>(kind: KindRef<T>, options: ListOptions): Promise<readonly T[]> => {
    try {
      return (await cluster.list(kind, { ...options, signal })).items;
    } catch (error) {
      // Without Cluster API there are no Clusters.
      if (error instanceof ApiError && error.code === 404) return [];
      throw error;
    }
  };
  const [clusters, classes] = await Promise.all([
    read(capiCluster, {}),
    read(capiClusterClass, { labelSelector: clusterStackLabels.release, metadataOnly: true }),
  ]);
  return releasesInUse(clusters, classes);
}

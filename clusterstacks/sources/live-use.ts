import { capiCluster, capiClusterClass } from '../../api/cluster-api/kinds.ts';
import { clusterStackLabels } from '../api/names.ts';
import type { KindRef, Resource } from '../../api/meta.ts';
import type { Cluster, ListOptions } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { releasesInUse } from './releases-in-use.ts';

/** Which releases are used by Clusters in all namespaces, read from the API server now. */
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

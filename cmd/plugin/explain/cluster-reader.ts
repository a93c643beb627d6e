import type { Cluster } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { ObjectReader } from './object-reader.ts';

/** The lines of a log that are read. */
const lines = 20;

/** Reads objects and logs with a client of the management cluster. A kind that it does not have has no objects. */
export function clusterReader(cluster: Cluster, signal?: AbortSignal): ObjectReader {
  const orNone = async <T, U>(work: Promise<T>, none: U): Promise<T | U> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return none;
      throw error;
    }
  };
  return {
    read: (kind, key) => orNone(cluster.get(kind, key, { signal }), undefined),
    list: async (kind, selection) => (await orNone(cluster.list(kind, { ...selection, signal }), undefined))?.items,
    log: async ({ namespace = '', name }, container) => {
      const query = new URLSearchParams({ container, tailLines: String(lines) });
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${query.toString()}`;
      try {
        return await cluster.text(`${path}&previous=true`, { signal });
      } catch (error) {
        // The container has not run before.
        if (!(error instanceof ApiError) || error.code !== 400) throw error;
        return cluster.text(path, { signal });
      }
    },
  };
}

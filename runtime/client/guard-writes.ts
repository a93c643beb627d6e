import type { Cluster } from './cluster.ts';

/**
 * The same client, but `mayWrite` is called right before each write and throws if the process must not act any more:
 * leadership may have ended between the decision and the request. Dry runs count as writes; reads do not.
 */
export function guardWrites(cluster: Cluster, mayWrite: () => void): Cluster {
  const guarded = async <T>(write: () => Promise<T>): Promise<T> => {
    mayWrite();
    return write();
  };
  return {
    name: cluster.name,
    get: (kind, key, options) => cluster.get(kind, key, options),
    list: (kind, options) => cluster.list(kind, options),
    watch: (kind, options) => cluster.watch(kind, options),
    create: (kind, manifest, options) => guarded(() => cluster.create(kind, manifest, options)),
    apply: (kind, manifest, options) => guarded(() => cluster.apply(kind, manifest, options)),
    patch: (kind, key, patch, options) => guarded(() => cluster.patch(kind, key, patch, options)),
    delete: (kind, key, options) => guarded(() => cluster.delete(kind, key, options)),
    text: (path, options) => cluster.text(path, options),
    lastContact: () => cluster.lastContact(),
    close: () => cluster.close(),
  };
}

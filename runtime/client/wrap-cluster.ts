import type { Cluster, ConditionalWrite, ReadOptions } from './cluster.ts';

/** A call of a wrapped client, watches aside. */
export interface ClusterRequest<T> {
  readonly isWrite: boolean;
  /** The caller's own. */
  readonly signal: AbortSignal | undefined;
  /** Makes the call: with another signal, at another client, or on a condition (of a write), if one is given. */
  readonly send: (changed?: { readonly signal?: AbortSignal; readonly at?: Cluster } & ConditionalWrite) => Promise<T>;
}

/**
 * The same client, but `around` makes each call: it can refuse it, measure it, bound it or repeat it. Watches and answers that are read
 * line by line go straight through, because a stream is no call.
 */
export function wrapCluster(cluster: Cluster, around: <T>(request: ClusterRequest<T>) => Promise<T>): Cluster {
  const calls =
    (isWrite: boolean) =>
    <T, O extends ReadOptions>(options: O | undefined, call: (at: Cluster, options: O) => Promise<T>): Promise<T> =>
      around({
        isWrite,
        signal: options?.signal,
        send: ({ signal = options?.signal, at = cluster, ...condition } = {}) =>
          call(at, { ...options, signal, ...condition } as O),
      });
  const [read, write] = [calls(false), calls(true)];
  return {
    name: cluster.name,
    get: (kind, key, options) => read(options, (at, last) => at.get(kind, key, last)),
    list: (kind, options) => read(options, (at, last) => at.list(kind, last)),
    watch: (kind, options) => cluster.watch(kind, options),
    create: (kind, manifest, options) => write(options, (at, last) => at.create(kind, manifest, last)),
    apply: (kind, manifest, options) => write(options, (at, last) => at.apply(kind, manifest, last)),
    patch: (kind, key, patch, options) => write(options, (at, last) => at.patch(kind, key, patch, last)),
    delete: (kind, key, options) => write(options, (at, last) => at.delete(kind, key, last)),
    text: (path, options) => read(options, (at, last) => at.text(path, last)),
    lines: (path, options) => cluster.lines(path, options),
    lastContact: () => cluster.lastContact(),
    close: () => cluster.close(),
  };
}

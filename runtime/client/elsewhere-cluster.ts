import type { ReadOptions } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { waitElsewhere } from '../queue/elsewhere.ts';
import { repeatable } from '../queue/repeats.ts';

/**
 * The same client, for a server outside of the management cluster: the time that a reconcile waits for it is measured, and
 * a failed request can be repeated alone. `client` returns the client for each request, because a repeat may come when this
 * one is closed. Watches do not count as waiting.
 */
export function elsewhereCluster(cluster: Cluster, client: () => Cluster): Cluster {
  const ask = <T, O extends ReadOptions>(options: O | undefined, request: (at: Cluster, options: O) => Promise<T>) =>
    repeatable((signal) =>
      waitElsewhere((cut) => {
        const signals = [signal ?? options?.signal, cut].filter((one) => one !== undefined);
        const bounded = { ...options, ...(signals.length > 0 && { signal: AbortSignal.any(signals) }) } as O;
        return request(signal === undefined ? cluster : client(), bounded);
      }),
    );
  return {
    name: cluster.name,
    get: (kind, key, options) => ask(options, (at, bounded) => at.get(kind, key, bounded)),
    list: (kind, options) => ask(options, (at, bounded) => at.list(kind, bounded)),
    watch: (kind, options) => cluster.watch(kind, options),
    create: (kind, manifest, options) => ask(options, (at, bounded) => at.create(kind, manifest, bounded)),
    apply: (kind, manifest, options) => ask(options, (at, bounded) => at.apply(kind, manifest, bounded)),
    patch: (kind, key, patch, options) => ask(options, (at, bounded) => at.patch(kind, key, patch, bounded)),
    delete: (kind, key, options) => ask(options, (at, bounded) => at.delete(kind, key, bounded)),
    text: (path, options) => ask(options, (at, bounded) => at.text(path, bounded)),
    lastContact: () => cluster.lastContact(),
    close: () => cluster.close(),
  };
}

import type { Cluster } from '../../runtime/client/cluster.ts';
import type { WatchLine } from '../../runtime/client/watch-connection.ts';

/** A line to what any Cluster shows. */
export function clusterLine(cluster: Pick<Cluster, 'list' | 'watch'>): WatchLine {
  const hungUp = new AbortController();
  return {
    connectedAt: () => Promise.resolve(-Infinity),
    list: (kind, { limit, ...selection }) =>
      cluster.list(kind, { ...selection, metadataOnly: true, page: { limit }, signal: hungUp.signal }),
    watch(kind, selection, listener) {
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, hungUp.signal]);
      const listen = async (): Promise<void> => {
        for await (const event of cluster.watch(kind, { ...selection, metadataOnly: true, signal })) {
          if (!signal.aborted) listener.event(event);
        }
      };
      listen().then(
        () => {
          if (!signal.aborted) listener.ended(undefined);
        },
        (error: unknown) => {
          if (!signal.aborted) listener.ended(error);
        },
      );
      return () => {
        stop.abort(new Error('nobody listens anymore'));
      };
    },
    close: () => {
      hungUp.abort(new Error('the line was closed'));
    },
  };
}

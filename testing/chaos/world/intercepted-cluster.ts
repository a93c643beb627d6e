import type { KindRef, Resource } from '../../../api/meta.ts';
import type { Cluster, WatchEvent, WatchOptions } from '../../../runtime/client/cluster.ts';
import { eventKind } from '../../../runtime/observe/event-recorder.ts';
import type { Destination, Pass, ProductCall } from './product-call.ts';

/** What stands between a process and an API server. */
export interface Interception {
  readonly to: Destination;
  readonly pass: Pass;
  /** Ends the watches of the process: throws into them. */
  readonly watches: <T>(events: (signal: AbortSignal) => AsyncIterable<T>, signal: AbortSignal) => AsyncIterable<T>;
}

/** Kinds whose calls are no part of an operation. */
const aside: ReadonlySet<string> = new Set(['Lease', eventKind.kind]);

interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** The client of a process, each call of which is passed on by what stands in between. */
export function interceptedCluster(cluster: Cluster, { to, pass, watches }: Interception): Cluster {
  const callOf = (verb: string, kind: KindRef, { namespace, name }: Place, subresource?: string): ProductCall => ({
    to,
    isWrite: verb !== 'get' && verb !== 'list',
    isAside: aside.has(kind.kind),
    text: [
      verb,
      subresource === undefined ? kind.kind : `${kind.kind}/${subresource}`,
      [namespace, name].filter((part) => part !== undefined && part !== '').join('/'),
    ]
      .filter((part) => part !== '')
      .join(' '),
  });
  return {
    name: cluster.name,
    get: (kind, key, options) => pass(callOf('get', kind, key), () => cluster.get(kind, key, options), options?.signal),
    list: (kind, options) =>
      pass(callOf('list', kind, { namespace: options?.namespace }), () => cluster.list(kind, options), options?.signal),
    watch: <T extends Resource>(kind: KindRef<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> =>
      watches((signal) => cluster.watch(kind, { ...options, signal }), options.signal),
    create: (kind, manifest, options) =>
      pass(callOf('create', kind, manifest.metadata), () => cluster.create(kind, manifest, options), options?.signal),
    apply: (kind, manifest, options) =>
      pass(
        callOf('apply', kind, manifest.metadata, options.subresource),
        () => cluster.apply(kind, manifest, options),
        options.signal,
      ),
    patch: (kind, key, patch, options) =>
      pass(
        callOf('patch', kind, key, options?.subresource),
        () => cluster.patch(kind, key, patch, options),
        options?.signal,
      ),
    delete: (kind, key, options) =>
      pass(callOf('delete', kind, key), () => cluster.delete(kind, key, options), options?.signal),
    text: (path, options) =>
      pass(
        { to, isWrite: false, isAside: false, text: `get ${path.replace(/\?.*$/, '')}` },
        () => cluster.text(path, options),
        options?.signal,
      ),
    lines: (path, options) => cluster.lines(path, options),
    lastContact: () => cluster.lastContact(),
    // The server is there for others.
    close: () => Promise.resolve(),
  };
}

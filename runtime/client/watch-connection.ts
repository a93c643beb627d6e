import type { KindRef, Resource } from '../../api/meta.ts';
import type { ListOf, Selection, WatchEvent } from './cluster.ts';

/** The handlers of a watch. */
export interface WatchListener {
  event(event: WatchEvent<Resource>): void;
  /**
   * Called once, unless the watch was stopped: undefined when the server ended it, `ApiError` when it refused (410: the version is too
   * old), `UnreachableError` when the connection is lost.
   */
  ended(error: unknown): void;
}

/** One connection to an API server that carries many watches at once, of metadata only. */
export interface WatchLine {
  /**
   * When the connection was made, by the monotonic clock: versions that the server gave out since then are not of its future, as they can
   * be after a restart with restored data. Throws when there is no connection.
   */
  connectedAt(): Promise<number>;
  /** The first page of at most `limit` objects. Throws `ApiError` or `UnreachableError`. */
  list(kind: KindRef, selection: Selection & { readonly limit: number }): Promise<ListOf<Resource>>;
  /** Reports events after a version, until the returned function is called. */
  watch(
    kind: KindRef,
    selection: Selection & { readonly resourceVersion: string },
    listener: WatchListener,
  ): () => void;
  /** Closes the connection. No handler is called anymore, and lists fail. */
  close(): void;
}

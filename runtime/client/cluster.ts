import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';

/** Which objects of a kind are meant. */
export interface Selection {
  readonly namespace?: string;
  /** In the API's string form, e.g. `a=b,c`. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** A list with the version it was read at. */
export interface ListOf<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Of a single page: where the next one begins; absent on the last one. */
  readonly next?: string;
}

/** One line of a watch. `SYNC` closes the initial state of a streamed list; `BOOKMARK` only moves the version. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK' | 'SYNC'; readonly resourceVersion: string };

export interface ReadOptions {
  readonly signal?: AbortSignal;
}

export interface ListOptions extends Selection, ReadOptions {
  /** Requests metadata only: no `data` of Secrets or ConfigMaps is sent or stored. */
  readonly metadataOnly?: boolean;
  /** '0' answers from the API server's cache. */
  readonly resourceVersion?: string;
  /** One page of at most `limit` objects instead of all; `from` is the `next` of the page before, good for some minutes. */
  readonly page?: { readonly limit: number; readonly from?: string };
}

export interface WatchOptions extends Selection {
  readonly metadataOnly?: boolean;
  /** Continue after this version; absent: stream the initial state first and close it with `SYNC`. */
  readonly resourceVersion?: string;
  readonly signal: AbortSignal;
}

/** Who writes only under a condition that may end at any time. */
export interface ConditionalWrite {
  /** Called over HTTP/1.1 right before the request is sent, after every wait for a connection. If it throws, nothing is sent. */
  readonly maySend?: () => void;
}

export interface WriteOptions extends ConditionalWrite {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly subresource?: 'status' | 'scale' | 'finalize' | 'approval';
  readonly signal?: AbortSignal;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Called when the server reports that this request created the object; never for one that existed before. */
  readonly onCreated?: () => void;
}

export type Patch =
  { readonly type: 'merge'; readonly body: unknown } | { readonly type: 'json'; readonly body: readonly unknown[] };

export interface DeleteOptions extends ConditionalWrite {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly signal?: AbortSignal;
}

/**
 * The client of one API server, ours or a tenant's. Objects are plain JSON.
 * Every method throws `ApiError` for an answer of the server that is not a success, and `UnreachableError` when there was
 * no answer. `get` and `delete` do not treat absence as an error.
 */
export interface Cluster {
  /** For logs and metrics: `management`, or `tenant`. */
  readonly name: string;
  get<T extends Resource>(kind: KindRef<T>, key: Key, options?: ReadOptions): Promise<T | undefined>;
  /** All objects, or the requested page; for a page, throws `ApiError` with code 410 if its version is too old. */
  list<T extends Resource>(kind: KindRef<T>, options?: ListOptions): Promise<ListOf<T>>;
  /** Ends when the server ends the stream; throws `ApiError` with code 410 when the version is too old. */
  watch<T extends Resource>(kind: KindRef<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options?: WriteOptions): Promise<T>;
  /** Server-side apply under `fieldManager` with force. */
  apply<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: ApplyOptions): Promise<T>;
  patch<T extends Resource>(kind: KindRef<T>, key: Key, patch: Patch, options?: WriteOptions): Promise<T>;
  /** False when the object was not there (or had another uid). */
  delete(kind: KindRef, key: Key, options?: DeleteOptions): Promise<boolean>;
  /** Raw GET, for `/version`, `/readyz` and discovery. Answers of 400 and above throw `ApiError`. */
  text(path: string, options?: ReadOptions): Promise<string>;
  /**
   * Raw GET whose answer is read line by line, without empty lines, as far as the caller reads: leaving the loop ends it. Throws as
   * `text` does.
   */
  lines(path: string, options: { readonly signal: AbortSignal }): AsyncIterable<string>;
  /** Time of the last byte received from the server, in milliseconds by the monotonic clock; undefined before the first. */
  lastContact(): number | undefined;
  close(): Promise<void>;
}

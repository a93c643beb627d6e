import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { apiError } from './api-status.ts';
import { systemClock, type Clock } from '../clock.ts';
import type {
  Cluster,
  ConditionalWrite,
  DeleteOptions,
  ListOf,
  ListOptions,
  Patch,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  ApplyOptions,
} from './cluster.ts';
import type { Connection } from './connection.ts';
import { ApiError, UnreachableError } from './errors.ts';
import type { Http2Sessions } from './http2/http2-sessions.ts';
import { parseJson, parsePage, presentObject, storedObject } from './decode-object.ts';
import { collectionPath, namespaceFor, objectPath, selectionQuery, withQuery, type Query } from './request-path.ts';
import { Transport, type HttpAnswer, type HttpRequest } from './transport.ts';
import { LineSplitter } from './line-splitter.ts';
import { watchEvents } from './watch-stream.ts';

/** One exchange, for metrics. */
export interface RequestMeasure {
  readonly cluster: string;
  readonly verb: Verb;
  readonly method: HttpRequest['method'];
  /** HTTP status; 0 when there was no answer. Of a watch: of its beginning. */
  readonly code: number;
  readonly ms: number;
  /** Length of the answer's body in characters; 0 for a watch. */
  readonly bytes: number;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete' | 'text';

export interface ClusterOptions {
  /** `management` or `tenant`: for logs and metrics. */
  readonly name: string;
  /** Requests at once; 8 by default. Over HTTP/1.1 each has a connection of its own, and each watch besides. */
  readonly connections?: number;
  /** With these, requests and watches share one connection over HTTP/2, if the server speaks it. */
  readonly sessions?: Http2Sessions;
  /** Until an answer must be complete, or a watch begun; 30 000 by default. */
  readonly timeoutMs?: number;
  /** Largest body of an answer, and of all pages of a list together; 256 MiB by default. Keep it low for tenants. */
  readonly maxBodyBytes?: number;
  /** Largest single event of a watch; 8 MiB by default. */
  readonly maxLineBytes?: number;
  /** Silence of a watch after which the server counts as lost; 75 000 by default. */
  readonly silenceMs?: number;
  readonly userAgent?: string;
  readonly clock?: Clock;
  /** In [0, 1): spreads the ends of watches. */
  readonly random?: () => number;
  readonly onRequest?: (measure: RequestMeasure) => void;
}

const pageSize = 500;
const defaultLineBytes = 8 * 1024 * 1024;
const longestListAttempts = 3;
/** The two wordings servers have for it. */
const uidMismatch = /UID in (the )?precondition/;
const metadataOf = (type: string): string => `application/json;as=${type};g=meta.k8s.io;v=v1`;

/**
 * The client of one API server. Opens connections on demand and keeps them. Throws `KubeconfigError` when the credentials
 * cannot be used.
 */
export function openCluster(connection: Connection, options: ClusterOptions): Cluster {
  return new HttpCluster(connection, options);
}

class HttpCluster implements Cluster {
  readonly name: string;
  readonly #transport: Transport;
  readonly #options: ClusterOptions;
  readonly #clock: Clock;
  readonly #maxBodyBytes: number;
  #lastContact: number | undefined;
  #streamsLists = true;

  constructor(connection: Connection, options: ClusterOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#maxBodyBytes = options.maxBodyBytes ?? 256 * 1024 * 1024;
    this.#transport = new Transport(connection, {
      connections: options.connections ?? 8,
      sessions: options.sessions,
      timeoutMs: options.timeoutMs ?? 30_000,
      maxBodyBytes: this.#maxBodyBytes,
      userAgent: options.userAgent ?? 'steward',
      clock: this.#clock,
      onBytes: this.#onBytes,
    });
  }

  async get<T extends Resource>(kind: KindRef<T>, key: Key, options: ReadOptions = {}): Promise<T | undefined> {
    const answer = await this.#send('get', { method: 'GET', path: objectPath(kind, key) }, options.signal);
    return answer.code === 404 ? undefined : presentObject(kind, parseJson(succeeded(answer).body));
  }

  async list<T extends Resource>(kind: KindRef<T>, options: ListOptions = {}): Promise<ListOf<T>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#listPages(kind, options);
      } catch (error) {
        // The version that the pages are read at was compacted away between two of them: begin again.
        const isLast = attempt === longestListAttempts || options.page !== undefined;
        if (!(error instanceof ApiError) || error.code !== 410 || isLast) throw error;
      }
    }
  }

  async *watch<T extends Resource>(kind: KindRef<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    if (options.resourceVersion !== undefined) {
      yield* this.#watchFrom(kind, options, { resourceVersion: options.resourceVersion });
      return;
    }
    if (this.#streamsLists) {
      const query = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
      try {
        yield* this.#watchFrom(kind, options, query);
        return;
      } catch (error) {
        // 400 and 422: the server is older than streamed lists, or has them switched off.
        if (!(error instanceof ApiError) || (error.code !== 400 && error.code !== 422)) throw error;
        this.#streamsLists = false;
      }
    }
    const { items, resourceVersion } = await this.list(kind, options);
    for (const object of items) yield { type: 'ADDED', object };
    yield { type: 'SYNC', resourceVersion };
    yield* this.#watchFrom(kind, options, { resourceVersion });
  }

  async create<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: WriteOptions = {}): Promise<T> {
    const path = withQuery(collectionPath(kind, namespaceFor(kind, manifest.metadata)), writeQuery(options));
    return this.#object(kind, await this.#send('create', jsonRequest('POST', path, manifest, options), options.signal));
  }

  async apply<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: ApplyOptions): Promise<T> {
    const path = withQuery(objectPath(kind, manifest.metadata, options.subresource), {
      ...writeQuery(options),
      force: true,
    });
    // The body is JSON, which is YAML; servers accept no other media type for it.
    const request = { ...jsonRequest('PATCH', path, manifest, options), contentType: 'application/apply-patch+yaml' };
    const answer = await this.#send('apply', request, options.signal);
    const object = this.#object(kind, answer);
    if (answer.code === 201) options.onCreated?.();
    return object;
  }

  async patch<T extends Resource>(kind: KindRef<T>, key: Key, patch: Patch, options: WriteOptions = {}): Promise<T> {
    const path = withQuery(objectPath(kind, key, options.subresource), writeQuery(options));
    const contentType = patch.type === 'merge' ? 'application/merge-patch+json' : 'application/json-patch+json';
    const request = { ...jsonRequest('PATCH', path, patch.body, options), contentType };
    return this.#object(kind, await this.#send('patch', request, options.signal));
  }

  async delete(kind: KindRef, key: Key, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, resourceVersion, propagation, gracePeriodSeconds } = options;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
      propagationPolicy: propagation ?? 'Background',
      gracePeriodSeconds,
    };
    const request = jsonRequest('DELETE', objectPath(kind, key), body, options);
    const answer = await this.#send('delete', request, options.signal);
    if (answer.code === 404) return false;
    if (answer.code === 409 && uid !== undefined && uidMismatch.test(answer.body)) return false;
    succeeded(answer);
    return true;
  }

  async text(path: string, options: ReadOptions = {}): Promise<string> {
    const request: HttpRequest = { method: 'GET', path, accept: '*/*' };
    return succeeded(await this.#send('text', request, options.signal)).body;
  }

  async *lines(path: string, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<string> {
    const request: HttpRequest = { method: 'GET', path, accept: '*/*' };
    const stream = await this.#measured('text', request, () => this.#transport.stream(request, signal));
    try {
      if (stream.code !== 200) throw apiError(stream.code, await this.#transport.read(stream.body), stream.retryAfter);
      const splitter = new LineSplitter(this.#options.maxLineBytes ?? defaultLineBytes);
      let size = 0;
      for await (const chunk of stream.body) {
        this.#onBytes();
        // Also of what makes no line: empty lines are left out, and so are spaces at the end of others.
        size += chunk.length;
        if (size > this.#maxBodyBytes) throw new Error(`the response is larger than ${this.#maxBodyBytes} bytes`);
        yield* splitter.push(chunk);
      }
      const rest = splitter.end();
      if (rest !== undefined) yield rest;
    } catch (error) {
      throw error instanceof ApiError ? error : this.#transport.failure(request, error, signal);
    } finally {
      stream.release();
      stream.body.destroy();
    }
  }

  lastContact(): number | undefined {
    return this.#lastContact;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #listPages<T extends Resource>(kind: KindRef<T>, options: ListOptions): Promise<ListOf<T>> {
    const { namespace, resourceVersion, metadataOnly = false, page: only, signal } = options;
    const accept = metadataOnly ? metadataOf('PartialObjectMetadataList') : 'application/json';
    const limit = only?.limit ?? (resourceVersion === '0' ? undefined : pageSize);
    const items: T[] = [];
    let bytes = 0;
    let next = only?.from;
    for (;;) {
      const place: Query = next === undefined ? { resourceVersion } : { continue: next };
      const path = withQuery(collectionPath(kind, namespace), { ...selectionQuery(options), limit, ...place });
      const answer = succeeded(await this.#send('list', { method: 'GET', path, accept }, signal));
      bytes += answer.body.length;
      if (bytes > this.#maxBodyBytes)
        throw new UnreachableError(`the list of ${kind.plural} is larger than ${this.#maxBodyBytes} bytes`);
      const page = parsePage(kind, answer.body);
      for (const item of page.items) items.push(storedObject(kind, item, metadataOnly));
      next = page.next;
      if (only !== undefined) {
        return { items, resourceVersion: page.resourceVersion, next };
      }
      if (next === undefined) return { items, resourceVersion: page.resourceVersion };
    }
  }

  async *#watchFrom<T extends Resource>(
    kind: KindRef<T>,
    options: WatchOptions,
    start: Query,
  ): AsyncGenerator<WatchEvent<T>> {
    const { namespace, metadataOnly = false, signal } = options;
    const request: HttpRequest = {
      method: 'GET',
      path: withQuery(collectionPath(kind, namespace), {
        ...selectionQuery(options),
        watch: true,
        allowWatchBookmarks: true,
        // Spread, so that watches begun together do not all end together.
        timeoutSeconds: 290 + Math.floor((this.#options.random ?? Math.random)() * 300),
        ...start,
      }),
      accept: metadataOnly ? metadataOf('PartialObjectMetadata') : 'application/json',
    };
    const stream = await this.#measured('watch', request, () => this.#transport.stream(request, signal));
    try {
      if (stream.code !== 200) throw apiError(stream.code, await this.#transport.read(stream.body), stream.retryAfter);
      yield* watchEvents(kind, stream.body, {
        clock: this.#clock,
        silenceMs: this.#options.silenceMs ?? 75_000,
        maxLineBytes: this.#options.maxLineBytes ?? defaultLineBytes,
        metadataOnly,
        onBytes: this.#onBytes,
      });
    } catch (error) {
      throw error instanceof ApiError ? error : this.#transport.failure(request, error, signal);
    } finally {
      stream.release();
      stream.body.destroy();
    }
  }

  async #send(verb: Verb, request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    return this.#measured(verb, request, () => this.#transport.send(request, signal));
  }

  async #measured<A extends { readonly code: number; readonly body: unknown }>(
    verb: Verb,
    request: HttpRequest,
    work: () => Promise<A>,
  ): Promise<A> {
    const since = this.#clock.monotonic();
    const measure = (code: number, bytes: number): void => {
      const ms = this.#clock.monotonic() - since;
      this.#options.onRequest?.({ cluster: this.name, verb, method: request.method, code, ms, bytes });
    };
    try {
      const answer = await work();
      measure(answer.code, typeof answer.body === 'string' ? answer.body.length : 0);
      return answer;
    } catch (error) {
      measure(0, 0);
      throw error;
    }
  }

  #object<T extends Resource>(kind: KindRef<T>, answer: HttpAnswer): T {
    return presentObject(kind, parseJson(succeeded(answer).body));
  }

  readonly #onBytes = (): void => {
    this.#lastContact = this.#clock.monotonic();
  };
}

/** Throws the refusal in an answer that is not a success. */
function succeeded(answer: HttpAnswer): HttpAnswer {
  if (answer.code >= 200 && answer.code < 300) return answer;
  throw apiError(answer.code, answer.body, answer.retryAfter);
}

function jsonRequest(
  method: HttpRequest['method'],
  path: string,
  body: unknown,
  { maySend }: ConditionalWrite,
): HttpRequest {
  const request = { method, path, contentType: 'application/json', body: JSON.stringify(body) };
  return maySend === undefined ? request : { ...request, maySend };
}

function writeQuery(options: WriteOptions): Query {
  return { fieldManager: options.fieldManager, dryRun: options.dryRun === true ? 'All' : undefined };
}

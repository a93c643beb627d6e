import { connect as connectHttp2, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { KindRef, Resource } from '../../api/meta.ts';
import { apiError } from './api-status.ts';
import type { Clock, Timer } from '../clock.ts';
import type { ListOf, Selection } from './cluster.ts';
import type { Connection } from './connection.ts';
import { describeFailure } from '../observe/describe-failure.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { LineSplitter } from './line-splitter.ts';
import { parsePage, storedObject } from './decode-object.ts';
import { collectionPath, selectionQuery, withQuery } from './request-path.ts';
import type { Query } from './request-path.ts';
import { tlsTarget } from './tls-target.ts';
import { parseWatchEvent } from './watch-event.ts';
import type { WatchLine, WatchListener } from './watch-connection.ts';

/** How far a server is trusted. Times are milliseconds. */
export interface Http2LineOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads the ends of watches and the pings. */
  readonly random: () => number;
  readonly userAgent?: string;
  /** Time until a list must be complete, a watch started or a ping answered; 10 000 by default. */
  readonly timeoutMs?: number;
  /** Time between two pings; 60 000 by default, and up to a quarter more. */
  readonly pingMs?: number;
  /** Largest answer to a list; 1 MiB by default. */
  readonly maxBodyBytes?: number;
  /** Largest single event; 256 KiB by default. */
  readonly maxLineBytes?: number;
  /** Largest amount of data of all watches and lists per minute; 4 MiB by default. */
  readonly maxBytesPerMinute?: number;
}

/** Follows one answer. */
interface AnswerListener {
  begun?(): void;
  /** A part of a body whose status is 200. */
  part(bytes: Buffer): void;
  /** The answer is complete, or will not be. */
  over(error: unknown): void;
}

interface OpenStream {
  readonly stream: ClientHttp2Stream;
  readonly over: (error: unknown) => void;
}

const metadataOf = (type: string): string => `application/json;as=${type};g=meta.k8s.io;v=v1`;
/** A refusal's body; API servers send less than 1 KiB. */
const maxRefusalBytes = 16 * 1024;
const minuteMs = 60_000;

/**
 * Opens an HTTP/2 connection (RFC 9113), which carries all watches. Throws `KubeconfigError` when the credentials cannot be
 * used; of tokens only one that never changes is.
 */
export function openHttp2Line(connection: Connection, options: Http2LineOptions): WatchLine {
  return new Http2Line(connection, options);
}

class Http2Line implements WatchLine {
  readonly #server: string;
  readonly #prefix: string;
  readonly #token: string | undefined;
  readonly #session: ClientHttp2Session;
  readonly #options: Http2LineOptions;
  readonly #open = new Set<OpenStream>();
  #timer: Timer | undefined;
  #lost: UnreachableError | undefined;
  #bytes = 0;
  #countedSince: number;

  constructor(connection: Connection, options: Http2LineOptions) {
    const { dial, server, token } = connection;
    const { origin, pathname } = new URL(server);
    this.#server = dial === undefined ? server : `${server} (at ${dial.host}:${dial.port})`;
    this.#prefix = pathname.replace(/\/$/, '');
    this.#token = token;
    this.#options = options;
    this.#countedSince = options.clock.monotonic();
    const socket = connectTo(connection);
    this.#session = connectHttp2(origin, {
      createConnection: () => socket,
      settings: { enablePush: false },
      // Megabytes that are not read yet.
      maxSessionMemory: 1,
      maxHeaderListPairs: 64,
      maxReservedRemoteStreams: 0,
    });
    this.#session.once('connect', this.#connected);
    this.#session.on('error', this.#fail);
    this.#session.once('goaway', () => {
      this.#fail(new Error('the server sent GOAWAY'));
    });
    this.#session.once('close', () => {
      this.#fail(new Error('the server closed the connection'));
    });
    this.#timer = this.#deadline('no connection');
  }

  list(kind: KindRef, selection: Selection & { readonly limit: number }): Promise<ListOf<Resource>> {
    const maxBytes = this.#options.maxBodyBytes ?? 1024 * 1024;
    const path = withQuery(collectionPath(kind, selection.namespace), {
      ...selectionQuery(selection),
      limit: selection.limit,
    });
    return new Promise((resolve) => {
      const parts: Buffer[] = [];
      let size = 0;
      const timer = this.#deadline('no complete list');
      const read = (): ListOf<Resource> => {
        const { items, resourceVersion, next } = parsePage(kind, Buffer.concat(parts, size).toString('utf8'));
        const objects = items.map((item) => storedObject<Resource>(kind, item, true));
        return { items: objects, resourceVersion, next };
      };
      this.#get(path, metadataOf('PartialObjectMetadataList'), {
        part: (bytes) => {
          size += bytes.length;
          if (size > maxBytes) this.#fail(new Error(`the list of ${kind.plural} is larger than ${maxBytes} bytes`));
          else parts.push(bytes);
        },
        over: (error) => {
          timer.cancel();
          // What cannot be read rejects, too.
          resolve(error === undefined ? Promise.resolve().then(read) : Promise.reject(asError(error)));
        },
      });
    });
  }

  watch(
    kind: KindRef,
    selection: Selection & { readonly resourceVersion: string },
    listener: WatchListener,
  ): () => void {
    const splitter = new LineSplitter(this.#options.maxLineBytes ?? 256 * 1024);
    const query: Query = {
      ...selectionQuery(selection),
      resourceVersion: selection.resourceVersion,
      watch: true,
      // No bookmarks: they would come every minute, for ever.
      timeoutSeconds: 1800 + Math.floor(this.#options.random() * 1800),
    };
    const timer = this.#deadline(`no watch of ${kind.plural}`);
    let stopped = false;
    const stop = this.#get(
      withQuery(collectionPath(kind, selection.namespace), query),
      metadataOf('PartialObjectMetadata'),
      {
        begun: () => {
          timer.cancel();
        },
        part: (bytes) => {
          for (const line of splitter.push(bytes)) {
            const event = parseWatchEvent(kind, line, true);
            if (!stopped) listener.event(event);
          }
        },
        over: (error) => {
          timer.cancel();
          if (!stopped) listener.ended(error);
        },
      },
    );
    return () => {
      stopped = true;
      timer.cancel();
      stop();
    };
  }

  close(): void {
    this.#lost ??= new UnreachableError('the connection has been closed');
    this.#timer?.cancel();
    const open = [...this.#open];
    this.#open.clear();
    this.#session.destroy();
    for (const { stream } of open) stream.destroy();
  }

  readonly #connected = (): void => {
    this.#timer?.cancel();
    const { alpnProtocol } = this.#session;
    if (alpnProtocol !== 'h2' && alpnProtocol !== 'h2c') {
      this.#fail(new Error('the server does not speak HTTP/2'));
      return;
    }
    this.#pingLater();
  };

  /** Sends a GET and passes the response to the listener; the returned function cancels it without calling the listener. */
  #get(path: string, accept: string, listener: AnswerListener): () => void {
    const stream = this.#request(path, accept);
    if (stream === undefined) {
      // Like any other loss, it is reported after the caller has its result.
      queueMicrotask(() => {
        listener.over(this.#lost);
      });
      return () => undefined;
    }
    const opened: OpenStream = {
      stream,
      over: (error) => {
        if (this.#open.delete(opened)) listener.over(error);
      },
    };
    this.#open.add(opened);
    this.#read(opened, listener);
    return () => {
      this.#open.delete(opened);
      stream.close(constants.NGHTTP2_CANCEL);
    };
  }

  #request(path: string, accept: string): ClientHttp2Stream | undefined {
    if (this.#lost !== undefined) return undefined;
    try {
      return this.#session.request({
        ':path': this.#prefix + path,
        accept,
        'user-agent': this.#options.userAgent ?? 'steward',
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      });
    } catch (error) {
      // The session is lost already, and has not reported that yet.
      this.#fail(error);
      return undefined;
    }
  }

  #read(opened: OpenStream, listener: AnswerListener): void {
    const { stream } = opened;
    let refusal: { readonly code: number; readonly retryAfter: string | undefined; body: string } | undefined;
    let isComplete = false;
    stream.once('response', (headers: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      const code = headers[':status'] ?? 0;
      listener.begun?.();
      if (code !== 200) refusal = { code, retryAfter: headers['retry-after'], body: '' };
    });
    stream.on('data', (bytes: Buffer) => {
      if (!this.#open.has(opened) || !this.#mayBring(bytes.length)) return;
      if (refusal !== undefined) {
        if (refusal.body.length < maxRefusalBytes) refusal.body += bytes.toString('utf8');
        return;
      }
      try {
        listener.part(bytes);
      } catch (error) {
        stream.close(constants.NGHTTP2_CANCEL);
        opened.over(error instanceof ApiError ? error : this.#unreachable(error));
      }
    });
    stream.once('end', () => {
      isComplete = true;
    });
    // What went wrong is reported when the stream closes; without a listener it would end the process.
    let failure: unknown;
    stream.on('error', (error) => {
      failure = error;
    });
    stream.once('close', () => {
      const broken = (): unknown => this.#lost ?? this.#unreachable(failure ?? new Error('the response was cut off'));
      if (refusal !== undefined) opened.over(apiError(refusal.code, refusal.body, refusal.retryAfter));
      else opened.over(isComplete && failure === undefined ? undefined : broken());
    });
  }

  /** Counts received bytes; false if there are more than a well-behaved server sends. */
  #mayBring(bytes: number): boolean {
    const { clock, maxBytesPerMinute = 4 * 1024 * 1024 } = this.#options;
    const now = clock.monotonic();
    if (now - this.#countedSince > minuteMs) {
      this.#countedSince = now;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    if (this.#bytes <= maxBytesPerMinute) return true;
    this.#fail(new Error(`the server sent more than ${maxBytesPerMinute} bytes per minute`));
    return false;
  }

  #pingLater(): void {
    const { clock, random, pingMs = minuteMs } = this.#options;
    this.#timer = clock.after(pingMs * (1 + random() / 4), () => {
      this.#timer = this.#deadline('no answer to a ping');
      this.#session.ping((error) => {
        this.#timer?.cancel();
        if (error !== null) this.#fail(error);
        else if (this.#lost === undefined) this.#pingLater();
      });
    });
  }

  #deadline(what: string): Timer {
    const { clock, timeoutMs = 10_000 } = this.#options;
    return clock.after(timeoutMs, () => {
      this.#fail(new Error(`${what} within ${timeoutMs / 1000} s`));
    });
  }

  #unreachable(error: unknown): UnreachableError {
    return new UnreachableError(`${this.#server} is not reachable: ${describeFailure(error)}`, { cause: error });
  }

  /** The connection is lost: every list and watch on it fails with that. */
  readonly #fail = (error: unknown): void => {
    if (this.#lost !== undefined) return;
    const lost = this.#unreachable(error);
    this.#lost = lost;
    for (const { over } of [...this.#open]) over(lost);
    this.close();
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(describeFailure(error)));

function connectTo(connection: Connection): Socket {
  const { host, port, servername, secureContext, checkServerIdentity } = tlsTarget(connection);
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (secureContext === undefined) return connectTcp({ host, port, ...keepAlive });
  return connectTls({
    host,
    port,
    servername,
    secureContext,
    checkServerIdentity,
    ALPNProtocols: ['h2'],
    ...keepAlive,
  });
}

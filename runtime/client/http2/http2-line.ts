import { constants } from 'node:http2';
import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { apiError } from '../api-status.ts';
import type { Clock, Timer } from '../../clock.ts';
import type { ListOf, Selection } from '../cluster.ts';
import type { Connection } from '../connection.ts';
import { describeFailure } from '../../observe/describe-failure.ts';
import { ApiError, UnreachableError } from '../errors.ts';
import { LineSplitter } from '../line-splitter.ts';
import { parsePage, storedObject } from '../decode-object.ts';
import { collectionPath, selectionQuery, withQuery } from '../request-path.ts';
import type { Query } from '../request-path.ts';
import { parseWatchEvent } from '../watch-event.ts';
import type { WatchLine, WatchListener } from '../watch-connection.ts';
import type { Http2Session } from './http2-session.ts';
import type { Http2Sessions, SessionLease } from './http2-sessions.ts';

/** How far a server is trusted. Times are milliseconds. */
export interface Http2LineOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads the ends of watches. */
  readonly random: () => number;
  /** Has the session that carries the watches, and perhaps calls of others besides. */
  readonly sessions: Http2Sessions;
  readonly userAgent?: string;
  /** Time until a list must be complete or a watch started; 10 000 by default. */
  readonly timeoutMs?: number;
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
  /** The line was closed before that. */
  closed(error: UnreachableError): void;
}

/** A request that has not ended. */
interface OpenRequest {
  /** Absent until the session is there. */
  stream?: ClientHttp2Stream;
  readonly over: (error: unknown) => void;
  readonly closed: (error: UnreachableError) => void;
}

const metadataOf = (type: string): string => `application/json;as=${type};g=meta.k8s.io;v=v1`;
/** A refusal's body; API servers send less than 1 KiB. */
const maxRefusalBytes = 16 * 1024;
const minuteMs = 60_000;

/**
 * Carries all watches over the HTTP/2 session to a server (RFC 9113). Throws `KubeconfigError` when the credentials cannot be
 * used; of tokens only one that never changes is.
 */
export function openHttp2Line(connection: Connection, options: Http2LineOptions): WatchLine {
  return new Http2Line(connection, options);
}

class Http2Line implements WatchLine {
  readonly #server: string;
  readonly #prefix: string;
  readonly #token: string | undefined;
  readonly #lease: SessionLease;
  readonly #session: Promise<Http2Session>;
  readonly #options: Http2LineOptions;
  readonly #open = new Set<OpenRequest>();
  #lost: UnreachableError | undefined;
  #bytes = 0;
  #countedSince: number;

  constructor(connection: Connection, options: Http2LineOptions) {
    const { dial, server, token } = connection;
    this.#server = dial === undefined ? server : `${server} (at ${dial.host}:${dial.port})`;
    this.#prefix = new URL(server).pathname.replace(/\/$/, '');
    this.#token = token;
    this.#options = options;
    this.#countedSince = options.clock.monotonic();
    this.#lease = options.sessions.lease(connection);
    this.#session = this.#lease.session();
    this.#session.catch(this.#lose);
  }

  async connectedAt(): Promise<number> {
    try {
      const { connectedAt } = await this.#session;
      return connectedAt;
    } catch (error) {
      throw this.#lost ?? this.#unreachable(error);
    }
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
      const end = (list: Promise<ListOf<Resource>>): void => {
        timer.cancel();
        resolve(list);
      };
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
          // What cannot be read rejects, too.
          end(error === undefined ? Promise.resolve().then(read) : Promise.reject(asError(error)));
        },
        closed: (error) => {
          end(Promise.reject(error));
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
        closed: () => {
          stopped = true;
          timer.cancel();
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
    const lost = (this.#lost ??= new UnreachableError('the connection has been closed'));
    const open = [...this.#open];
    this.#open.clear();
    for (const { stream, closed } of open) {
      stream?.close(constants.NGHTTP2_CANCEL);
      closed(lost);
    }
    this.#lease.release();
  }

  /** Sends a GET and passes the response to the listener; the returned function cancels it without calling the listener. */
  #get(path: string, accept: string, listener: AnswerListener): () => void {
    const opened: OpenRequest = {
      over: (error) => {
        if (this.#open.delete(opened)) listener.over(error);
      },
      closed: (error) => {
        listener.closed(error);
      },
    };
    this.#open.add(opened);
    this.#send(opened, { path, accept, listener }).catch((error: unknown) => {
      // Like any other loss, it is reported after the caller has its result.
      opened.over(this.#lost ?? this.#unreachable(error));
    });
    return () => {
      this.#open.delete(opened);
      opened.stream?.close(constants.NGHTTP2_CANCEL);
    };
  }

  async #send(
    opened: OpenRequest,
    { path, accept, listener }: { readonly path: string; readonly accept: string; readonly listener: AnswerListener },
  ): Promise<void> {
    const session = await this.#session;
    if (this.#lost !== undefined) throw this.#lost;
    if (!this.#open.has(opened)) return;
    const headers = {
      accept,
      'user-agent': this.#options.userAgent ?? 'steward',
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
    };
    const stream = session.request({ method: 'GET', path: this.#prefix + path, headers }, 'watch');
    opened.stream = stream;
    this.#read(session, { opened, stream, listener });
  }

  #read(
    session: Http2Session,
    answer: { readonly opened: OpenRequest; readonly stream: ClientHttp2Stream; readonly listener: AnswerListener },
  ): void {
    const { opened, stream, listener } = answer;
    let refusal: { readonly code: number; readonly retryAfter: string | undefined; body: string } | undefined;
    let hasBegun = false;
    stream.once('response', (headers: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      const code = headers[':status'] ?? 0;
      hasBegun = true;
      listener.begun?.();
      if (code !== 200) refusal = { code, retryAfter: headers['retry-after'], body: '' };
    });
    stream.on('data', (bytes: Buffer) => {
      session.count(bytes.length);
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
    stream.once('close', () => {
      const broken = session.breakOf(stream) ?? (hasBegun ? undefined : new Error('the response was cut off'));
      if (refusal !== undefined) opened.over(apiError(refusal.code, refusal.body, refusal.retryAfter));
      else opened.over(broken === undefined ? undefined : (this.#lost ?? this.#unreachable(broken)));
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

  #deadline(what: string): Timer {
    const { clock, timeoutMs = 10_000 } = this.#options;
    return clock.after(timeoutMs, () => {
      this.#withSession((session) => {
        session.check();
      });
      this.#lose(new Error(`${what} within ${timeoutMs / 1000} s`));
    });
  }

  #unreachable(error: unknown): UnreachableError {
    return new UnreachableError(`${this.#server} is not reachable: ${describeFailure(error)}`, { cause: error });
  }

  /** The server does not keep to what is allowed: nobody uses this session any longer. */
  #fail(error: Error): void {
    this.#withSession((session) => {
      session.destroy(error);
    });
    this.#lose(error);
  }

  #withSession(act: (session: Http2Session) => void): void {
    // Without one, there is nothing to do.
    this.#session.then(act, () => undefined);
  }

  /** Every list and watch fails with that. */
  readonly #lose = (error: unknown): void => {
    if (this.#lost !== undefined) return;
    const lost = this.#unreachable(error);
    this.#lost = lost;
    for (const { over } of [...this.#open]) over(lost);
    this.close();
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(describeFailure(error)));

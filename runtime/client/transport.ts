import { sleep, type Clock } from '../clock.ts';
import type { Connection } from './connection.ts';
import { deadline } from '../deadline.ts';
import { describeFailure, failureCode } from '../observe/describe-failure.ts';
import { UnreachableError } from './errors.ts';
import type { Exchange, Exchanger } from './exchange/exchanger.ts';
import { http1Exchanger } from './exchange/http1-exchanger.ts';
import { UnprocessedError } from './exchange/unprocessed-error.ts';
import { http2Exchanger } from './http2/http2-exchanger.ts';
import type { Http2Sessions } from './http2/http2-sessions.ts';
import { tokenSource, type TokenSource } from './token-source.ts';
import type { ByteStream } from './watch-stream.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With query, without the path prefix of the server. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Called right before it is sent; if it throws, it is not. Not called over HTTP/2. */
  readonly maySend?: () => void;
}

export interface HttpAnswer {
  readonly code: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

export interface HttpStream {
  readonly code: number;
  readonly retryAfter: string | undefined;
  /** Ends when the server ends it; throws `UnreachableError` when it breaks. */
  readonly body: ByteStream;
  /** Must be called when the stream is no longer read. */
  readonly release: () => void;
}

export interface TransportOptions {
  readonly connections: number;
  /** Over HTTP/2, and shared, where the server speaks it; absent for HTTP/1.1. */
  readonly sessions: Http2Sessions | undefined;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly onBytes: () => void;
}

const maxRetries = 3;
/** If a server requests a longer delay than this, the caller gets the refusal. */
const longestRetryWaitMs = 5000;
const resets = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** HTTP to one server over kept connections: credentials, deadlines, size limits, and the retries that are always safe. */
export class Transport {
  readonly #server: string;
  readonly #prefix: string;
  readonly #exchanger: Exchanger;
  readonly #token: TokenSource;
  readonly #options: TransportOptions;
  readonly #closing = new AbortController();

  /** Throws `KubeconfigError` when the credentials cannot be used. */
  constructor(connection: Connection, options: TransportOptions) {
    const { dial } = connection;
    this.#server = dial === undefined ? connection.server : `${connection.server} (at ${dial.host}:${dial.port})`;
    this.#prefix = new URL(connection.server).pathname.replace(/\/$/, '');
    const { sessions, connections } = options;
    this.#exchanger =
      sessions === undefined
        ? http1Exchanger(connection, connections)
        : http2Exchanger(connection, sessions, connections);
    this.#token = tokenSource(connection, options.clock);
    this.#options = options;
  }

  /** The whole answer, with any code. Throws `UnreachableError`, or the signal's reason. */
  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer> {
    let askedAgain = false;
    for (let retries = 0; ; retries += 1) {
      let answer: HttpAnswer;
      try {
        answer = await this.#once(request, signal);
      } catch (error) {
        if (retries === 0 && (isUnprocessed(error) || (request.method === 'GET' && isReset(error)))) continue;
        throw error;
      }
      if (answer.code === 401 && !askedAgain && this.#token.refused()) {
        askedAgain = true;
        continue;
      }
      const wait = retries < maxRetries ? retryDelay(answer) : undefined;
      if (wait === undefined) return answer;
      await sleep(this.#options.clock, wait, signal);
    }
  }

  /** An answer to be read bit by bit. The deadline covers its beginning only. */
  async stream(request: HttpRequest, signal: AbortSignal): Promise<HttpStream> {
    const limit = deadline(this.#options.clock, this.#options.timeoutMs, [signal, this.#closing.signal]);
    try {
      const answer = await this.#exchanger.watch(await this.#exchange(request, limit.signal));
      this.#options.onBytes();
      limit.disarm();
      // The next attempt reads the token again.
      if (answer.code === 401) this.#token.refused();
      return { ...answer, release: limit.release };
    } catch (error) {
      limit.release();
      throw this.failure(request, limit.reason ?? error, signal);
    }
  }

  /** What a failed exchange means to the caller: the reason of its own signal, or that the server cannot be reached. */
  failure(request: HttpRequest, error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof UnreachableError && error.message.startsWith(request.method)) return error;
    return new UnreachableError(
      `${request.method} ${request.path}: ${this.#server} is not reachable: ${describeFailure(error)}`,
      { cause: error },
    );
  }

  /** Ends watches at once and lets running requests finish. */
  async close(): Promise<void> {
    this.#closing.abort(new UnreachableError('the connection has been closed'));
    await this.#exchanger.close();
  }

  async #once(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const limit = deadline(this.#options.clock, this.#options.timeoutMs, signal === undefined ? [] : [signal]);
    try {
      const { code, retryAfter, body } = await this.#exchanger.call(await this.#exchange(request, limit.signal));
      this.#options.onBytes();
      return { code, retryAfter, body: await this.read(body) };
    } catch (error) {
      throw this.failure(request, limit.reason ?? error, signal);
    } finally {
      limit.release();
    }
  }

  /** Reads a body to its end, within `maxBodyBytes`. */
  async read(body: AsyncIterable<Uint8Array>): Promise<string> {
    const { maxBodyBytes, onBytes } = this.#options;
    const parts: Uint8Array[] = [];
    let size = 0;
    // Leaving the loop by an error destroys the body, and with it the connection over HTTP/1.1.
    for await (const part of body) {
      size += part.length;
      if (size > maxBodyBytes) throw new Error(`the response is larger than ${maxBodyBytes} bytes`);
      parts.push(part);
      onBytes();
    }
    return Buffer.concat(parts, size).toString('utf8');
  }

  async #exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
    const token = await this.#token.current();
    return {
      method: request.method,
      path: this.#prefix + request.path,
      signal,
      headers: {
        accept: request.accept ?? 'application/json',
        'user-agent': this.#options.userAgent,
        ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: request.body,
      ...(request.maySend !== undefined && { maySend: request.maySend }),
    };
  }
}

/** The delay that the server requested, if it refused before doing anything and the delay is short. */
function retryDelay(answer: HttpAnswer): number | undefined {
  if ((answer.code !== 429 && answer.code !== 503) || answer.retryAfter === undefined) return undefined;
  const ms = Number(answer.retryAfter) * 1000;
  return ms >= 0 && ms <= longestRetryWaitMs ? ms : undefined;
}

function isReset(error: unknown): boolean {
  return error instanceof UnreachableError && resets.has(failureCode(error.cause) ?? '');
}

const isUnprocessed = (error: unknown): boolean =>
  error instanceof UnreachableError && error.cause instanceof UnprocessedError;

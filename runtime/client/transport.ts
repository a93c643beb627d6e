import type { Dispatcher } from 'undici';
import { sleep, type Clock } from '../clock.ts';
import type { Connection } from './connection.ts';
import { deadline } from '../deadline.ts';
import { describeFailure, failureCode } from '../observe/describe-failure.ts';
import { openDispatchers, type Dispatchers } from './dispatchers.ts';
import { UnreachableError } from './errors.ts';
import { tokenSource, type TokenSource } from './token-source.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With query, without the path prefix of the server. */
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
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
  readonly body: Dispatcher.ResponseData['body'];
  /** Must be called when the stream is no longer read. */
  readonly release: () => void;
}

export interface TransportOptions {
  readonly connections: number;
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
  readonly #dispatchers: Dispatchers;
  readonly #token: TokenSource;
  readonly #options: TransportOptions;
  readonly #closing = new AbortController();

  /** Throws `KubeconfigError` when the credentials cannot be used. */
  constructor(connection: Connection, options: TransportOptions) {
    const { dial } = connection;
    this.#server = dial === undefined ? connection.server : `${connection.server} (at ${dial.host}:${dial.port})`;
    this.#prefix = new URL(connection.server).pathname.replace(/\/$/, '');
    this.#dispatchers = openDispatchers(connection, options.connections);
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
        if (retries === 0 && request.method === 'GET' && isReset(error)) continue;
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
      const { statusCode, headers, body } = await this.#dispatch(this.#dispatchers.watches, request, limit.signal);
      limit.disarm();
      // The next attempt reads the token again.
      if (statusCode === 401) this.#token.refused();
      return { code: statusCode, retryAfter: single(headers['retry-after']), body, release: limit.release };
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
    await Promise.all([this.#dispatchers.watches.destroy(), this.#dispatchers.requests.close()]);
  }

  async #once(request: HttpRequest, signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const limit = deadline(this.#options.clock, this.#options.timeoutMs, signal === undefined ? [] : [signal]);
    try {
      const { statusCode, headers, body } = await this.#dispatch(this.#dispatchers.requests, request, limit.signal);
      return {
        code: statusCode,
        retryAfter: single(headers['retry-after']),
        body: await this.read(body),
      };
    } catch (error) {
      throw this.failure(request, limit.reason ?? error, signal);
    } finally {
      limit.release();
    }
  }

  /** Reads a body to its end, within `maxBodyBytes`. */
  async read(body: AsyncIterable<Buffer>): Promise<string> {
    const { maxBodyBytes, onBytes } = this.#options;
    const parts: Buffer[] = [];
    let size = 0;
    // Leaving the loop by an error destroys the body, and with it the connection.
    for await (const part of body) {
      size += part.length;
      if (size > maxBodyBytes) throw new Error(`the response is larger than ${maxBodyBytes} bytes`);
      parts.push(part);
      onBytes();
    }
    return Buffer.concat(parts, size).toString('utf8');
  }

  async #dispatch(pool: Dispatcher, request: HttpRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const token = await this.#token.current();
    const sent = pool.request({
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
    });
    const answer = await unlessAborted(sent, signal);
    this.#options.onBytes();
    return answer;
  }
}

/**
 * undici heeds a signal only once the request has a connection, and how long that takes is up to the server and to the requests
 * before. One that is given up here is not sent anymore.
 */
function unlessAborted(sent: Promise<Dispatcher.ResponseData>, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    sent.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave);
    });
  });
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

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

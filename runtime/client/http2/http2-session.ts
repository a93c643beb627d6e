import { connect as connectHttp2, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders, Settings } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../../clock.ts';
import { failureCode } from '../../observe/describe-failure.ts';
import { UnprocessedError } from '../exchange/unprocessed-error.ts';
import type { TlsTarget } from '../tls-target.ts';

/** How long a server is waited for. Times are milliseconds. */
export interface Http2SessionOptions {
  readonly clock: Clock;
  /** In [0, 1): spreads the pings of many sessions. */
  readonly random: () => number;
  /** Until a connection must be there; 10 000 by default. */
  readonly connectMs?: number;
  /** Silence after which the server gets a ping, and up to a quarter more; 30 000 by default. */
  readonly idleMs?: number;
  /** Until a ping must be answered; 15 000 by default. */
  readonly pingMs?: number;
  /** The same while a request waits for the answer; 5 000 by default. */
  readonly checkMs?: number;
}

/** `call`s end by themselves, `watch`es go on. */
export type StreamUse = 'call' | 'watch';

/** The headers of a request. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The server is there and speaks only another protocol. */
export class NotHttp2Error extends Error {
  override readonly name = 'NotHttp2Error';
}

class ClosedError extends Error {
  override readonly name = 'ClosedError';
  /** What reads again after a reset does so after this, too. */
  readonly code = 'ECONNRESET';
}

/** How long calls may run on a session that takes no more of them, and then until the server closes the connection, too. */
const retiredMs = 30_000;
/** Bytes in a span between two pings that no request asked for: frames that control the session, and data of ended requests. */
const maxUnaskedBytes = 4 * 1024 * 1024;

/**
 * One connection over HTTP/2 (RFC 9113) that carries many requests at once. It limits what an untrusted server can make it hold, and finds
 * out when the server is gone. Lost once, it stays lost.
 */
export class Http2Session {
  /** The most requests that the server carries out at once; known when it is ready. */
  mostStreams = 0;
  /** When the server was connected to, by the monotonic clock; known when it is ready. */
  connectedAt = Infinity;
  readonly #options: Http2SessionOptions;
  readonly #socket: Socket;
  readonly #opened = Promise.withResolvers<undefined>();
  readonly #watches = new Set<ClientHttp2Stream>();
  /** Those whose answer the server has ended. */
  readonly #ended = new WeakSet<ClientHttp2Stream>();
  #session: ClientHttp2Session | undefined;
  #failure: Error | undefined;
  #isReady = false;
  #isGone = false;
  readonly #timers = new Set<Timer>();
  /** Open while it is not known whether the server is still there. */
  #check: PromiseWithResolvers<undefined> | undefined;
  /** The highest number of a request that the server may have processed. */
  #lastStream = Infinity;
  #asked = 0;
  #seen = { read: 0, asked: 0 };

  /** Begins to connect. `origin` is what the server is called in requests. */
  constructor(target: TlsTarget, origin: string, options: Http2SessionOptions) {
    this.#options = options;
    const timer = this.#deadline(options.connectMs ?? 10_000, 'no connection');
    this.#opened.promise.then(
      () => {
        this.#cancel(timer);
        this.#watchOver();
      },
      () => undefined,
    );
    this.#socket = connectTo(target);
    this.#socket.on('error', this.destroy);
    this.#socket.once('close', this.#closed);
    this.#socket.once(this.#socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      this.#connected(origin);
    });
  }

  /** Why it carries no new requests; undefined while it does. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** True once it could carry requests. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when it can carry requests. Rejects if it cannot and never will. */
  async ready(): Promise<void> {
    await this.#opened.promise;
    await this.#check?.promise;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Sends a request. Throws `UnprocessedError` if it is lost. The caller handles what becomes of the stream, and counts what it brings. */
  request({ method, path, headers }: RequestHead, use: StreamUse, body?: string): ClientHttp2Stream {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const all = { ':method': method, ':path': path, ...headers, ...length };
    const stream = this.#streamOf(all, body === undefined);
    // What went wrong is seen when the stream closes; without a listener it would end the process.
    stream.on('error', () => undefined);
    // Node passes on a reset without an error like the end of the answer. Only the end comes before the stream is closed.
    const push = stream.push.bind(stream);
    stream.push = (part: unknown, encoding) => {
      if (part === null && !stream.closed) this.#ended.add(stream);
      return push(part, encoding);
    };
    if (use === 'watch') {
      this.#watches.add(stream);
      stream.once('close', () => this.#watches.delete(stream));
    }
    if (body !== undefined) stream.end(body);
    return stream;
  }

  #streamOf(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const lost = (cause: unknown): Error => new UnprocessedError('the connection is lost', { cause });
    if (this.#failure !== undefined || this.#session === undefined) throw lost(this.#failure);
    try {
      return this.#session.request(headers, { endStream });
    } catch (error) {
      // The session is lost already, and has not reported that yet.
      this.destroy(asError(error));
      throw lost(error);
    }
  }

  /** Bytes of a body that a request asked for. */
  count(bytes: number): void {
    this.#asked += bytes;
  }

  /** Why an answer has ended before the server said so; undefined when that is not so. */
  breakOf(stream: ClientHttp2Stream): Error | undefined {
    const isReset = stream.rstCode !== constants.NGHTTP2_NO_ERROR || !this.#ended.has(stream);
    if (!isReset && stream.errored === null) return undefined;
    return this.#failure ?? stream.errored ?? new Error('the response was cut off');
  }

  /** Whether the request of a closed stream was never sent, or the server said that it has not begun to process it. */
  isUnprocessed({ id, rstCode, errored }: ClientHttp2Stream): boolean {
    if (id === undefined || id > this.#lastStream) return true;
    // Of a session that ended with an error, all streams have its code: only by its own error one is known to be refused.
    return rstCode === constants.NGHTTP2_REFUSED_STREAM && failureCode(errored) === 'ERR_HTTP2_STREAM_ERROR';
  }

  /** Asks whether the server is still there, because it did not answer a request. New requests wait until that is known. */
  check(): void {
    if (this.#failure !== undefined || this.#check !== undefined) return;
    const check = Promise.withResolvers<undefined>();
    this.#check = check;
    this.#ping(this.#options.checkMs ?? 5_000, () => {
      this.#check = undefined;
      check.resolve(undefined);
    });
  }

  /** Takes no more requests: watches end at once, calls run to their end. After half a minute it is destroyed. */
  retire(reason: Error): void {
    if (this.#failure !== undefined) return;
    if (this.#session === undefined) {
      this.destroy(reason);
      return;
    }
    this.#lose(reason);
    for (const stream of this.#watches) stream.destroy(reason);
    this.#deadline(retiredMs, 'the connection was not closed');
    this.#session.close();
  }

  /** Ends it and all requests on it. */
  readonly destroy = (reason: Error): void => {
    if (this.#isGone) return;
    this.#lose(reason);
    this.#isGone = true;
    this.#opened.reject(reason);
    this.#session?.destroy(reason);
    this.#socket.destroy();
  };

  #lose(reason: Error): void {
    this.#failure ??= reason;
    for (const timer of this.#timers) this.#cancel(timer);
    this.#check?.resolve(undefined);
  }

  readonly #closed = (): void => {
    this.destroy(new ClosedError('the server closed the connection'));
  };

  #connected(origin: string): void {
    const socket = this.#socket;
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      this.destroy(new NotHttp2Error('the server does not speak HTTP/2'));
      return;
    }
    this.connectedAt = this.#options.clock.monotonic();
    const session = connectHttp2(origin, {
      createConnection: () => socket,
      settings: { enablePush: false },
      // Megabytes that are not read yet.
      maxSessionMemory: 1,
      // Of at most 64 KiB together, which nghttp2 sees to.
      maxHeaderListPairs: 64,
      maxReservedRemoteStreams: 0,
    });
    this.#session = session;
    session.on('error', this.destroy);
    session.once('close', this.#closed);
    session.on('goaway', (code: number, lastStream: number) => {
      this.#lastStream = lastStream;
      const reason = new ClosedError(`the server sent GOAWAY${code === 0 ? '' : ` with error ${code}`}`);
      if (code === 0) this.retire(reason);
      else this.destroy(reason);
    });
    session.once('remoteSettings', ({ maxConcurrentStreams = Infinity }: Settings) => {
      this.mostStreams = maxConcurrentStreams;
      this.#isReady = true;
      this.#opened.resolve(undefined);
    });
  }

  /** Looks from time to time whether the server is there, and whether it behaves. */
  #watchOver(): void {
    const { random, idleMs = 30_000, pingMs = 15_000 } = this.#options;
    if (this.#failure !== undefined) return;
    const span = idleMs * (1 + random() / 4);
    this.#after(span, () => {
      const now = { read: this.#socket.bytesRead, asked: this.#asked };
      const [read, asked] = [now.read - this.#seen.read, now.asked - this.#seen.asked];
      this.#seen = now;
      // A small event costs as much again for frames and records.
      if (read > maxUnaskedBytes + 2 * asked) this.destroy(new Error('the server sent more than it was asked for'));
      else if (read > 0) this.#watchOver();
      else
        this.#ping(pingMs, () => {
          this.#watchOver();
        });
    });
  }

  #ping(ms: number, done: () => void): void {
    const timer = this.#deadline(ms, 'no answer to a ping');
    const answered = (error: Error | null): void => {
      this.#cancel(timer);
      if (error !== null) this.destroy(error);
      done();
    };
    try {
      this.#session?.ping(answered);
    } catch (error) {
      // The session is lost already, and has not reported that yet.
      answered(asError(error));
    }
  }

  #deadline(ms: number, what: string): Timer {
    return this.#after(ms, () => {
      this.destroy(new Error(`${what} within ${ms / 1000} s`));
    });
  }

  #after(ms: number, action: () => void): Timer {
    const timer = this.#options.clock.after(ms, () => {
      this.#timers.delete(timer);
      action();
    });
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer: Timer): void {
    this.#timers.delete(timer);
    timer.cancel();
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function connectTo({ host, port, servername, secureContext, checkServerIdentity }: TlsTarget): Socket {
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (secureContext === undefined) return connectTcp({ host, port, ...keepAlive });
  const ALPNProtocols = ['h2', 'http/1.1'];
  return connectTls({ host, port, servername, secureContext, checkServerIdentity, ALPNProtocols, ...keepAlive });
}

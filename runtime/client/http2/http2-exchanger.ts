import { constants } from 'node:http2';
import type { ClientHttp2Stream, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import type { Connection } from '../connection.ts';
import type { Exchange, Exchanged, Exchanger } from '../exchange/exchanger.ts';
import { http1Exchanger } from '../exchange/http1-exchanger.ts';
import { Turns } from '../exchange/turns.ts';
import { UnprocessedError } from '../exchange/unprocessed-error.ts';
import type { ByteStream } from '../watch-stream.ts';
import { NotHttp2Error } from './http2-session.ts';
import type { Http2Session, StreamUse } from './http2-session.ts';
import type { Http2Sessions } from './http2-sessions.ts';

/** Watches and calls of one tenant at once, with some to spare: a server that allows fewer gets calls over HTTP/1.1. */
const fewestStreams = 32;

/**
 * Over the session that all users of these credentials share; over HTTP/1.1 where the server speaks nothing else. At most so many calls
 * run at once. Throws `KubeconfigError` for unusable credentials and for plain HTTP.
 */
export function http2Exchanger(connection: Connection, sessions: Http2Sessions, callsAtOnce: number): Exchanger {
  const lease = sessions.lease(connection);
  const turns = new Turns(callsAtOnce);
  /** Each resolves when a call has ended. */
  const running = new Set<Promise<undefined>>();
  let http1: Exchanger | undefined;
  let closing: Promise<void> | undefined;

  const older = (): Exchanger => (http1 ??= http1Exchanger(connection, callsAtOnce, lease.target));
  const session = async (signal: AbortSignal): Promise<Http2Session | undefined> => {
    try {
      const found = await lease.session(signal);
      return found.mostStreams < fewestStreams ? undefined : found;
    } catch (error) {
      if (error instanceof NotHttp2Error) return undefined;
      throw error;
    }
  };
  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw new Error('the connection has been closed');
  };
  const call = async (exchange: Exchange): Promise<Exchanged> => {
    refuseIfClosed();
    const { signal } = exchange;
    const ended = Promise.withResolvers<undefined>();
    let over = (): void => undefined;
    const end = (): void => {
      over();
      running.delete(ended.promise);
      ended.resolve(undefined);
    };
    running.add(ended.promise);
    try {
      over = await turns.take(signal);
      const carrier = await session(signal);
      signal.throwIfAborted();
      if (carrier !== undefined) return await begin(carrier, exchange, { use: 'call', end });
      over();
      const answer = await older().call(exchange);
      end();
      return answer;
    } catch (error) {
      end();
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    try {
      // Also those that wait for their turn or for the session, and go over HTTP/1.1 in the end.
      await Promise.all(running);
      await http1?.close();
    } finally {
      lease.release();
    }
  };
  return {
    call,
    watch: async (exchange) => {
      refuseIfClosed();
      const carrier = await session(exchange.signal);
      exchange.signal.throwIfAborted();
      refuseIfClosed();
      return carrier === undefined
        ? older().watch(exchange)
        : begin(carrier, exchange, { use: 'watch', end: () => undefined });
    },
    close: () => (closing ??= close()),
  };
}

interface Use {
  readonly use: StreamUse;
  /** Called when the stream is closed. */
  readonly end: () => void;
}

/** Sends the request and waits for the beginning of the answer. */
function begin(session: Http2Session, exchange: Exchange, { use, end }: Use): Promise<Exchanged> {
  const { method, path, headers, body, signal } = exchange;
  const stream = session.request({ method, path, headers }, use, body);
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  let hasBegun = false;
  const leave = (): void => {
    // Perhaps nobody is there anymore, or nobody who reads, whatever else may have come.
    if (!hasBegun) session.check();
    stream.close(constants.NGHTTP2_CANCEL);
    stream.destroy(signal.reason as Error);
  };
  signal.addEventListener('abort', leave, { once: true });
  stream.once('response', (got: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
    hasBegun = true;
    resolve({ code: got[':status'] ?? 0, retryAfter: got['retry-after'], body: bodyOf(stream, session) });
  });
  stream.once('close', () => {
    signal.removeEventListener('abort', leave);
    end();
    const isUnprocessed = session.isUnprocessed(stream) && !signal.aborted;
    const broken = session.breakOf(stream) ?? new Error('the response was cut off');
    reject(isUnprocessed ? new UnprocessedError('the server did not process the request', { cause: broken }) : broken);
  });
  return promise;
}

/** The bytes of an answer; the reader learns if they are not all. */
function bodyOf(stream: ClientHttp2Stream, session: Http2Session): ByteStream {
  return {
    destroy: (error) => stream.destroy(error),
    async *[Symbol.asyncIterator]() {
      try {
        for await (const part of stream as AsyncIterable<Buffer>) {
          session.count(part.length);
          yield part;
        }
        const broken = session.breakOf(stream);
        if (broken !== undefined) throw broken;
      } finally {
        // A server need not read what it has answered already: the rest of the request would keep the stream open.
        if (!stream.writableFinished) {
          stream.close(constants.NGHTTP2_CANCEL);
          stream.destroy();
        }
      }
    },
  };
}

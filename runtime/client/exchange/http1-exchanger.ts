import { buildConnector, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { Connection } from '../connection.ts';
import { tlsTarget } from '../tls-target.ts';
import type { TlsTarget } from '../tls-target.ts';
import type { Exchange, Exchanged, Exchanger } from './exchanger.ts';
import { unlessAborted } from './unless-aborted.ts';

const connectTimeoutMs = 10_000;
const keepAliveMs = 60_000;
/** An answer's header section; API servers send less than 1 KiB. */
const maxHeaderBytes = 32 * 1024;

/**
 * Over HTTP/1.1: a few connections for all calls, and one for each watch, because a stalled connection must not stall all watches.
 * Opens nothing yet: connections are made on demand. Throws `KubeconfigError` for unusable credentials and for plain HTTP.
 */
export function http1Exchanger(
  connection: Connection,
  connections: number,
  target: TlsTarget = tlsTarget(connection),
): Exchanger {
  const options = {
    connect: connectorTo(target),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
    // Deadlines are the caller's, by signal.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const { origin } = new URL(connection.server);
  const [calls, watches] = [new Pool(origin, { ...options, connections }), new Pool(origin, options)];
  return {
    call: (exchange) => through(calls, exchange),
    watch: (exchange) => through(watches, exchange),
    close: async () => {
      await Promise.all([watches.destroy(), calls.close()]);
    },
  };
}

/** Connects where the target says. */
function connectorTo({ host, port, servername, ...verification }: TlsTarget): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: 20_000,
    ...verification,
  });
  return (options, callback) => {
    connect({ ...options, hostname: host, port: String(port), servername }, callback);
  };
}

/**
 * undici heeds a signal only once the request has a connection, and how long that takes is up to the server and to the requests
 * before. One that is given up here is not sent anymore.
 */
async function through(pool: Pool, { method, path, headers, body, signal, maySend }: Exchange): Promise<Exchanged> {
  const dispatcher = maySend === undefined ? pool : pool.compose(asking(maySend));
  const sent = dispatcher.request({ method, path, headers, body, signal });
  const { statusCode, headers: got, body: answer } = await unlessAborted(sent, signal);
  const retryAfter = got['retry-after'];
  return { code: statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, body: answer };
}

/** undici calls `onRequestStart` when the request has a connection and nothing of it is sent; what it throws becomes the result. */
function asking(maySend: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context: unknown) => {
        maySend();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
      onResponseStart: (...begin) => handler.onResponseStart?.(...begin),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failed) => handler.onResponseError?.(...failed),
    });
}

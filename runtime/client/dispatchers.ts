import { buildConnector, Pool } from 'undici';
import type { Connection } from './connection.ts';
import { tlsTarget } from './tls-target.ts';

/** The persistent connections to one server: a few for all requests, and one for each watch. */
export interface Dispatchers {
  readonly requests: Pool;
  readonly watches: Pool;
}

const connectTimeoutMs = 10_000;
const keepAliveMs = 60_000;
/** An answer's header section; API servers send less than 1 KiB. */
const maxHeaderBytes = 32 * 1024;

/** Opens nothing yet: connections are made on demand. Throws `KubeconfigError` for unusable credentials and for plain HTTP. */
export function openDispatchers(connection: Connection, connections: number): Dispatchers {
  const options = {
    connect: connectorTo(connection),
    // One stream each: HTTP/2 would save sockets, but a stalled connection would stall all watches on it.
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
    // Deadlines are the caller's, by signal.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const { origin } = new URL(connection.server);
  return { requests: new Pool(origin, { ...options, connections }), watches: new Pool(origin, options) };
}

/** Connects where the target says. */
function connectorTo(connection: Connection): buildConnector.connector {
  const { host, port, servername, ...verification } = tlsTarget(connection);
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

import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type SecureContext } from 'node:tls';
import { buildConnector, Pool } from 'undici';
import type { Connection } from './connection.ts';
import { KubeconfigError } from './kubeconfig.ts';

/** The kept connections to one server: requests share a few, each watch has its own. */
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
  const { origin, protocol, hostname } = new URL(connection.server);
  if (protocol !== 'https:' && hostname !== '127.0.0.1') {
    throw new KubeconfigError(
      `${connection.server}: only https:// is spoken, so that no credential travels in the clear`,
    );
  }
  return { requests: new Pool(origin, { ...options, connections }), watches: new Pool(origin, options) };
}

/** Connects to the dial address, if there is one, and verifies the name of the server all the same. */
function connectorTo(connection: Connection): buildConnector.connector {
  const url = new URL(connection.server);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const verified = connection.tlsServerName ?? host;
  const connect = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: 20_000,
    ...(url.protocol === 'https:' ? { secureContext: contextOf(connection) } : {}),
    // An address is no SNI name (RFC 6066 §3), but the certificate is verified against it.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(verified, certificate),
  });
  return (options, callback) => {
    connect(
      {
        ...options,
        hostname: connection.dial?.host ?? host,
        port: String(connection.dial?.port ?? (url.port === '' ? 443 : url.port)),
        servername: isIP(verified) === 0 ? verified : '',
      },
      callback,
    );
  };
}

function contextOf(connection: Connection): SecureContext {
  const { ca, clientCert, clientKey } = connection;
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca }),
      ...(clientCert === undefined || clientKey === undefined ? {} : { cert: clientCert, key: clientKey }),
    });
  } catch (error) {
    throw new KubeconfigError(
      `the credentials for ${connection.server} cannot be used: the CA, the client certificate or its key is not valid PEM, or the two do not belong together`,
      { cause: error },
    );
  }
}

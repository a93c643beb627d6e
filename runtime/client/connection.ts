import { createHash } from 'node:crypto';

/** Everything needed to reach one API server and be known by it. A value: nothing is open. */
export interface Connection {
  /** The server as it names itself: `https://host:port`, with a path prefix if there is one. */
  readonly server: string;
  /** PEM bundle that must have signed the server's certificate; absent: the system's roots. */
  readonly ca?: string;
  /** PEM of the client's certificate; goes with `clientKey`. */
  readonly clientCert?: string;
  /** PEM of the client's private key. Secret. */
  readonly clientKey?: string;
  /** Bearer token. Secret. */
  readonly token?: string;
  /** A file that holds the bearer token and is read again as it rotates (bound service-account tokens do). */
  readonly tokenFile?: string;
  /** The name to verify in the server's certificate, when it is not the host of `server`. */
  readonly tlsServerName?: string;
  /** Connect here instead, while the host of `server` (or `tlsServerName`) is verified: a Service address, a tunnel. */
  readonly dial?: { readonly host: string; readonly port: number };
}

/** Changes whenever server or credentials do. Safe to log: one-way. */
export function connectionChecksum(connection: Connection): string {
  const { server, ca, clientCert, clientKey, token, tokenFile, tlsServerName, dial } = connection;
  const parts = [server, ca, clientCert, clientKey, token, tokenFile, tlsServerName, dial?.host, dial?.port ?? null];
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('hex');
}

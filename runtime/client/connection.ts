import { createHash } from 'node:crypto';
import type { ServerAccess } from '../../api/kubeconfig.ts';

/** Everything needed to reach one API server and to authenticate to it. A value: nothing is open. */
export interface Connection extends ServerAccess {
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

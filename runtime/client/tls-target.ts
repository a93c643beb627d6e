import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import type { PeerCertificate, SecureContext } from 'node:tls';
import type { Connection } from './connection.ts';
import { KubeconfigError } from '../../api/kubeconfig.ts';

/** Where a connection is dialed, and what is verified there. */
export interface TlsTarget {
  readonly host: string;
  readonly port: number;
  /** Empty where an address is verified. */
  readonly servername: string;
  /** Absent for plain HTTP. */
  readonly secureContext?: SecureContext;
  readonly checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined;
}

/**
 * Leads to the dial address, if there is one, and verifies the name of the server all the same. Throws `KubeconfigError` for
 * unusable credentials and for plain HTTP.
 */
export function tlsTarget(connection: Connection): TlsTarget {
  const url = new URL(connection.server);
  const isPlain = url.protocol !== 'https:';
  if (isPlain && url.hostname !== '127.0.0.1') {
    throw new KubeconfigError(
      `${connection.server}: only https:// is supported, so that credentials are never sent unencrypted`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const verified = connection.tlsServerName ?? host;
  return {
    host: connection.dial?.host ?? host,
    port: connection.dial?.port ?? Number(url.port === '' ? 443 : url.port),
    // An address is no SNI name (RFC 6066 §3), but the certificate is verified against it.
    servername: isIP(verified) === 0 ? verified : '',
    ...(isPlain ? {} : { secureContext: contextOf(connection) }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(verified, certificate),
  };
}

function contextOf(connection: Connection): SecureContext {
  const { ca, clientCert, clientKey } = connection;
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      // As Go's clients have it: a CA that another one has signed is trusted for itself, without the one above it.
      allowPartialTrustChain: true,
      ca,
      ...(clientCert === undefined || clientKey === undefined ? {} : { cert: clientCert, key: clientKey }),
    });
  } catch (error) {
    throw new KubeconfigError(
      `the credentials for ${connection.server} cannot be used: the CA, the client certificate or its key is not valid PEM, or the key does not match the certificate`,
      { cause: error },
    );
  }
}

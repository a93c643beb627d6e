import { connect } from '@nats-io/transport-node';
import type { Authenticator, NatsConnection } from '@nats-io/transport-node';
import type { StoreTls } from '../store-tls.ts';
import { credentialsParts } from './credentials-file.ts';
import { nkeyOfSeed } from './nkey.ts';

/** Whom to call, and who calls. */
export interface NatsTarget {
  /** `host:port`. */
  readonly endpoints: readonly string[];
  readonly tls?: StoreTls;
  /** A `.creds` file, a user and a password, or neither: then a client certificate is all. */
  readonly login: { readonly credentials: string } | { readonly user?: string; readonly password?: string };
  /** What the login is called in messages, e.g. `the user of spec.basicAuth`. */
  readonly loginName: string;
}

const dialMs = 4000;
const dials = 4;

/**
 * Connects to one endpoint. A server that refuses a client closes the connection at once, so its reason may be lost: then the attempt is
 * repeated. Throws the library's errors.
 */
export async function dial(target: NatsTarget, endpoint: string): Promise<NatsConnection> {
  for (let left = dials - 1; ; left -= 1) {
    try {
      return await dialOnce(target, endpoint);
    } catch (error) {
      if (left === 0 || !/EPIPE|ECONNRESET/.test(asError(error).message)) throw error;
    }
  }
}

async function dialOnce({ tls, login }: NatsTarget, endpoint: string): Promise<NatsConnection> {
  return connect({
    servers: endpoint,
    name: 'steward',
    timeout: dialMs,
    // The next use replaces a lost connection, and gets the error when that fails.
    reconnect: false,
    ignoreClusterUpdates: true,
    // Otherwise each request makes two errors for their stack, which is a fifth of the work of a copy.
    noAsyncTraces: true,
    ...('credentials' in login
      ? { authenticator: signing(login.credentials) }
      : { ...(login.user !== undefined && { user: login.user, pass: login.password ?? '' }) }),
    ...(tls !== undefined && {
      tls: { ca: tls.ca, ...(tls.client && { cert: tls.client.certificate, key: tls.client.key }) },
    }),
  });
}

/** Proves who we are. The library would sign in JavaScript, which is some hundred times slower. */
function signing(credentials: string): Authenticator {
  const { jwt, seed } = credentialsParts(credentials);
  const key = nkeyOfSeed('user', seed);
  return (nonce = '') => ({ jwt, sig: Buffer.from(key?.sign(nonce) ?? []).toString('base64url') });
}

/** What was thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

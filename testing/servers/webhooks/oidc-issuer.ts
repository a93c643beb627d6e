import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { startLoopbackServer } from './loopback-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** An OpenID Connect issuer that signs whatever a test asks for. */
export interface OidcIssuer extends LoopbackServer {
  /** A token with these claims besides issuer and times; valid for an hour. */
  token(claims: Readonly<Record<string, unknown>>): string;
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts one, with its discovery document and its keys (https://openid.net/specs/openid-connect-discovery-1_0.html). */
export async function startOidcIssuer(ca: KeyPair): Promise<OidcIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = 'one';
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] };
  const server = await startLoopbackServer(ca, ({ path }) => (path === '/keys' ? keys : discovery()));
  const discovery = (): object => ({
    issuer: server.url,
    jwks_uri: `${server.url}/keys`,
    authorization_endpoint: `${server.url}/authorize`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  });
  return {
    ...server,
    token(claims) {
      const now = Math.floor(Date.now() / 1000);
      const body = { iss: server.url, iat: now - 10, nbf: now - 10, exp: now + 3600, ...claims };
      const text = `${encoded({ alg: 'RS256', typ: 'JWT', kid })}.${encoded(body)}`;
      return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
    },
  };
}

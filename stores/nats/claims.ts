import { createHash } from 'node:crypto';
import { encodeBase32 } from './base32.ts';
import type { Nkey } from './nkey.ts';

/** What a JWT of NATS says of its subject; `nats` depends on the kind. */
export interface Claims<Body = unknown> {
  /** Public nkey. */
  readonly subject: string;
  readonly name?: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly nats: Body;
}

interface Payload {
  readonly jti?: string;
  readonly iat?: number;
  readonly iss?: string;
  readonly name?: string;
  readonly sub?: string;
  readonly nats?: unknown;
}

const header = Buffer.from(JSON.stringify({ typ: 'JWT', alg: 'ed25519-nkey' })).toString('base64url');

/** The claims signed by `issuer`, as a JWT of version 2. The same claims give the same text. */
export function signClaims(issuer: Nkey, claims: Claims): string {
  const { subject, name, issuedAt, nats } = claims;
  const payload: Payload = { iat: issuedAt, iss: issuer.publicKey, name, sub: subject, nats };
  const jti = encodeBase32(createHash('sha512-256').update(JSON.stringify(payload)).digest());
  const signed = `${header}.${Buffer.from(JSON.stringify({ jti, ...payload })).toString('base64url')}`;
  return `${signed}.${Buffer.from(issuer.sign(signed)).toString('base64url')}`;
}

/** The claims of a JWT, without verifying its signature; undefined if the text is not a JWT. */
export function readClaims(jwt: string): (Claims & { readonly issuer: string }) | undefined {
  const [, body] = jwt.trim().split('.');
  if (body === undefined) return undefined;
  try {
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Payload | null;
    const { iat = 0, iss = '', name, sub = '', nats } = payload ?? {};
    return { subject: sub, issuedAt: iat, issuer: iss, name, nats };
  } catch {
    return undefined;
  }
}

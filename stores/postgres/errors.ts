import { StoreError } from '../store-error.ts';
import type { StoreErrorReason } from '../store-error.ts';

/** A failed attempt at one endpoint. `error` is the client library's. */
export interface Failure {
  /** `host:port`. */
  readonly endpoint: string;
  readonly error: unknown;
}

/**
 * The server's code of an error (SQLSTATE, https://www.postgresql.org/docs/15/errcodes-appendix.html); undefined for others. None
 * of these check `instanceof Error`: test runners run files in another realm than that of Node's own errors.
 */
export function sqlState(error: unknown): string | undefined {
  return fieldOf(error, 'severity') === undefined ? undefined : fieldOf(error, 'code');
}

function fieldOf(error: unknown, name: 'code' | 'message' | 'severity'): string | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** What an error says; several addresses of one name fail as one error without a text of its own. */
function messageOf(error: unknown): string {
  const parts = typeof error === 'object' && error !== null && 'errors' in error ? error.errors : undefined;
  const texts = (Array.isArray(parts) ? parts : [error]).map(
    (part: unknown) => fieldOf(part, 'message') ?? String(part),
  );
  return [...new Set(texts)].join(', ') || (fieldOf(error, 'code') ?? 'no answer');
}

/** Codes after which another server may work: this one is shutting down, starting up, or accepts no writes. */
const elsewhere = /^(?:08...|57P0[1235]|25006)$/;

/** True when a connection is unusable; the same statement may work on another one. */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || elsewhere.test(state);
}

/** True when there was no answer in time: an immediate retry at the same server is pointless. */
export function isSilence(error: unknown): boolean {
  return /^(?:Query read timeout|timeout expired)$/.test(messageOf(error));
}

/** True when the connection limit of this role is reached: the server itself works. */
export function isCrowded(error: unknown): boolean {
  const parts = typeof error === 'object' && error !== null && 'errors' in error ? error.errors : undefined;
  return (Array.isArray(parts) ? parts : [error]).some((part: unknown) => sqlState(part) === '53300');
}

/** True for a race with a change of the same row of a catalog: the same statement succeeds when it is repeated. */
export function isCatalogRace(error: unknown): boolean {
  return sqlState(error) === 'XX000' && messageOf(error).startsWith('tuple concurrently');
}

/** True when the administrator lacks a right for one of the things that a statement does. */
export function isMissingRight(error: unknown): boolean {
  return sqlState(error) === '42501';
}

/** True when a lock was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

const refusedThem =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)|^INVALID_CA$|^INVALID_PURPOSE$/;
const refusedUs = /^ERR_SSL_.*ALERT/;

interface Explanation {
  readonly reason: StoreErrorReason;
  readonly text: string;
}

/** Errors of the connection, without an answer of the server. */
function explainWay(error: unknown): Explanation {
  const text = messageOf(error);
  const code = fieldOf(error, 'code') ?? '';
  if (refusedThem.test(code)) {
    const help =
      'set spec.tlsConfig.certificateAuthority to its CA, or add the name of the endpoint to the certificate';
    return { reason: 'Unauthorized', text: `the server's certificate is not trusted (${text}): ${help}` };
  }
  if (refusedUs.test(code)) {
    const help = 'spec.tlsConfig.clientCertificate must be valid and signed by a CA that it trusts';
    return { reason: 'Unauthorized', text: `the server rejected the manager's client certificate (${code}): ${help}` };
  }
  if (text.includes('does not support SSL')) {
    const help = 'enable TLS in the server, or remove spec.tlsConfig';
    return { reason: 'Unauthorized', text: `the server does not support TLS: ${help}` };
  }
  return { reason: 'Unreachable', text: isSilence(error) ? 'no answer within a few seconds' : text };
}

/** Reasons and fixes for errors of the server. */
const remedies: readonly (readonly [state: RegExp, reason: StoreErrorReason, help: string])[] = [
  [/^28P01$/, 'Unauthorized', 'correct spec.basicAuth'],
  [
    /^28000$/,
    'Unauthorized',
    'pg_hba.conf must allow the user of spec.basicAuth to connect from here, with TLS as set in spec.tlsConfig',
  ],
  [/^42501$/, 'Unauthorized', 'the user of spec.basicAuth must be a superuser, or have CREATEDB and CREATEROLE'],
  [/^53300$/, 'Unreachable', 'raise max_connections, or place fewer tenants on it'],
  [/^53100$/, 'Failed', 'its disk is full: free or add space'],
  [/^57014$|^55P03$/, 'Failed', 'it is overloaded, or a transaction has held a lock for too long'],
  [elsewhere, 'Unreachable', 'it is starting up, shutting down, or a standby'],
  [/^3D000$/, 'Failed', 'the database postgres must exist, since others are administered from it'],
  [/^22003$/, 'Failed', 'the columns of kine’s table are too narrow: let kine widen them (KINE_SCHEMA_MIGRATION=1)'],
];

function explain(error: unknown): Explanation {
  const state = sqlState(error);
  if (state === undefined) return explainWay(error);
  const [, reason = 'Failed', help] = remedies.find(([pattern]) => pattern.test(state)) ?? [];
  return { reason, text: help === undefined ? messageOf(error) : `${messageOf(error)}: ${help}` };
}

/** The failure of an endpoint for a person. */
export function noteOf({ endpoint, error }: Failure): string {
  return `${endpoint}: ${explain(error).text}`;
}

/** The error when no endpoint is usable; it names every endpoint with its failure. */
export function unavailableError(failures: readonly Failure[]): StoreError {
  const reasons = failures.map(({ error }) => explain(error).reason);
  const telling = reasons.find((one) => one === 'Unauthorized') ?? reasons.find((one) => one !== 'Unreachable');
  const reason = telling ?? 'Unreachable';
  const text = failures.map(noteOf).join('; ');
  const [only, ...more] = failures;
  const cause = more.length === 0 ? only?.error : new AggregateError(failures.map(({ error }) => error));
  return new StoreError(reason, `PostgreSQL cannot be used: ${text}`, { cause });
}

/** Translates an error of an attempt into an error for a person. */
export function refusedError(attempt: string, { endpoint, error }: Failure): StoreError {
  const { reason, text } = explain(error);
  return new StoreError(reason, `PostgreSQL at ${endpoint} could not ${attempt}: ${text}`, { cause: error });
}

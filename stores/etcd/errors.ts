import { StoreError } from '../store-error.ts';

/** A failed attempt at one endpoint. `error` is the client library's. */
export interface Failure {
  readonly endpoint: string;
  readonly error: Error;
}

const noise =
  /^\d+ [A-Z_]+: |No connection established\. Last error: (?:Error: )?|\s*\(\d{4}-\d\d-\d\dT[^)]*\)|\.?\s*Resolution note:\s*/g;

/** gRPC's message of an error, without codes and additions. */
function plain(error: Error): string {
  return error.message.replaceAll(noise, '').trim();
}

const refusedUs =
  /SSL alert|alert (?:unknown ca|bad certificate|certificate)|certificate required|EPROTO|ECONNRESET|socket hang up/i;
const refusedThem =
  /unable to (?:verify|get)|self[- ]signed|certificate has expired|not yet valid|altnames|does not match certificate|ERR_TLS_CERT/i;
const notAdministrator =
  /permission denied|user name (?:not found|is empty)|authentication failed|invalid auth token|user not found/i;

/** True when another endpoint may do better: no connection, no answer in time, or a member without a leader. */
export function isUnavailable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return /^(?:4|14) (?:DEADLINE_EXCEEDED|UNAVAILABLE)/.test(error.message);
}

/** True for a race with a change of users and roles; the same call succeeds when repeated. */
export function isStaleAuthRevision(error: unknown): boolean {
  return error instanceof Error && error.message.includes('revision of auth store is old');
}

/** True for a call that was never sent, because another one lost the connection that they share. */
export function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Channel closed before call started');
}

function explain(failure: Failure): { readonly reason: 'Unreachable' | 'Unauthorized'; readonly text: string } {
  const message = plain(failure.error);
  if (refusedThem.test(message)) {
    const text = `the server's certificate is not trusted (${message}): set spec.tlsConfig.certificateAuthority to its CA, or add its name to the certificate`;
    return { reason: 'Unauthorized', text: `${failure.endpoint}: ${text}` };
  }
  if (refusedUs.test(message)) {
    const text = `the server rejected the manager's client certificate (${shortened(message)}): spec.tlsConfig.clientCertificate must be signed by a CA it trusts`;
    return { reason: 'Unauthorized', text: `${failure.endpoint}: ${text}` };
  }
  return { reason: 'Unreachable', text: `${failure.endpoint}: ${message === '' ? failure.error.message : message}` };
}

/** The part of OpenSSL's message that a person understands. */
function shortened(message: string): string {
  const alert = /tlsv1[^:]*alert [a-z ]+|alert number \d+/i.exec(message);
  return alert?.[0] ?? message;
}

/** The error of a call that no endpoint answered; it names every endpoint with its failure. */
export function unavailableError(failures: readonly Failure[]): StoreError {
  const explained = failures.map(explain);
  const reason = explained.some((one) => one.reason === 'Unauthorized') ? 'Unauthorized' : 'Unreachable';
  const cause =
    failures.length === 1 ? failures[0]?.error : new AggregateError(failures.map((failure) => failure.error));
  const text = explained.map((one) => one.text).join('; ');
  return new StoreError(reason, reason === 'Unreachable' ? `etcd does not answer: ${text}` : text, { cause });
}

const outOfSpace = /database space exceeded/i;

/** True for a write that was refused because the quota is used up. Deletions and changes of users and roles are not refused. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof StoreError && error.cause instanceof Error && outOfSpace.test(error.cause.message);
}

/** Translates an error response into an error for a person. */
export function refusedError(attempt: string, failure: Failure): StoreError {
  const message = plain(failure.error);
  const { endpoint, error: cause } = failure;
  if (notAdministrator.test(message)) {
    const help = 'the common name of spec.tlsConfig.clientCertificate must be a user with role root';
    return new StoreError('Unauthorized', `etcd at ${endpoint} refused to ${attempt} (${message}): ${help}`, { cause });
  }
  if (outOfSpace.test(message)) {
    const help =
      'its quota is used up and it accepts no writes: compact, defragment and disarm the alarm, or raise --quota-backend-bytes';
    return new StoreError('Failed', `etcd at ${endpoint} cannot ${attempt}: ${help}`, { cause });
  }
  return new StoreError('Failed', `etcd at ${endpoint} could not ${attempt}: ${message}`, { cause });
}

import { StoreError } from '../store-error.ts';

/** A failed attempt at one endpoint. `error` is the client library's. */
export interface Failure {
  readonly endpoint: string;
  readonly error: Error;
}

/** JetStream's refusal of a request; `code` is its `err_code`. */
export class JetStreamRefusal extends Error {
  override readonly name = 'JetStreamRefusal';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Numbers of JetStream's refusals that are answers to us (server/errors.json of nats-server). */
export const refusals = {
  noStream: 10059,
  /** A stream of that name exists with another configuration. */
  otherStream: 10058,
  /** The subject's last message is another one than expected. */
  wrongLast: 10071,
  noMessage: 10037,
  /** The server that answers has JetStream off for the account, or has not taken the account in yet. */
  notForAccount: 10039,
  /** The cluster has no leader at the moment. */
  notYet: 10008,
} as const;

/** True for this refusal of JetStream. */
export function isRefusal(error: unknown, refusal: keyof typeof refusals): boolean {
  return error instanceof JetStreamRefusal && error.code === refusals[refusal];
}

/** True if the subject of a request has no subscriber. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('no responders');
}

const refusedThem =
  /unable to (?:verify|get)|self[- ]signed|certificate has expired|not yet valid|altnames|ERR_TLS_CERT|server does not support 'tls'/i;
const refusedUs = /SSL alert|alert (?:unknown ca|bad certificate|certificate)|certificate required|EPROTO/i;
const gone = /connection closed|closed connection|draining|ECONNRESET|EPIPE|ETIMEDOUT|stale connection/i;

/** The library's message of an error, or that of the network. */
function plain(error: Error): string {
  const message = (error.cause as Partial<Error> | undefined)?.message ?? error.message;
  if (error.name === 'TimeoutError') return 'no answer in time';
  return (
    /tlsv1[^:]*alert [a-z ]+/i.exec(message)?.[0] ?? message.replace(/; if the root CA is installed.*$/, '').trim()
  );
}

function explain({ endpoint, error }: Failure, login: string) {
  const message = plain(error);
  if (refusedThem.test(message)) {
    const help = 'set spec.tlsConfig.certificateAuthority.certificate to its CA, or add its name to the certificate';
    const text = message.includes('does not support')
      ? 'the server does not support TLS: enable it there, or remove spec.tlsConfig'
      : `the server's certificate is not trusted (${message}): ${help}`;
    return { reason: 'Unauthorized', text: `${endpoint}: ${text}` } as const;
  }
  if (refusedUs.test(message) || refusedUs.test(error.message)) {
    const help = 'spec.tlsConfig.clientCertificate must be signed by a CA it trusts';
    const text = `the server rejected the manager's client certificate (${message}): ${help}`;
    return { reason: 'Unauthorized', text: `${endpoint}: ${text}` } as const;
  }
  if (error.name === 'AuthorizationError' || error.name === 'UserAuthenticationExpiredError') {
    return { reason: 'Unauthorized', text: `${endpoint}: the server rejected ${login} (${message})` } as const;
  }
  return { reason: 'Unreachable', text: `${endpoint}: ${message}` } as const;
}

/** The error when no endpoint is usable; it names every endpoint with its failure. `login` names the credentials. */
export function unavailableError(failures: readonly Failure[], login: string): StoreError {
  const explained = failures.map((failure) => explain(failure, login));
  const reason = explained.some((one) => one.reason === 'Unauthorized') ? 'Unauthorized' : 'Unreachable';
  const cause =
    failures.length === 1 ? failures[0]?.error : new AggregateError(failures.map((failure) => failure.error));
  const text = explained.map((one) => one.text).join('; ');
  return new StoreError(reason, reason === 'Unreachable' ? `NATS does not answer: ${text}` : text, { cause });
}

/** Describes the failure of an endpoint as `unavailableError` does, for a note. */
export function failureNote(failure: Failure, login: string): string {
  return unavailableError([failure], login).message;
}

/**
 * Translates an error of a request into an error for a person; `attempt` completes "could not". `StoreError`, refusals of JetStream and
 * unanswered requests are returned unchanged, because callers handle them.
 */
export function requestError(attempt: string, thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof StoreError || thrown instanceof JetStreamRefusal) return thrown;
  if (isUnanswered(thrown)) return thrown;
  const message = plain(thrown);
  if (/permissions violation/i.test(thrown.message)) {
    const text = `NATS refused to ${attempt} (${message}): grant the user of the DataStore all permissions of its account`;
    return new StoreError('Unauthorized', text, { cause: thrown });
  }
  if (thrown.name === 'TimeoutError' || gone.test(thrown.message)) {
    return new StoreError('Unreachable', `NATS does not answer: could not ${attempt}: ${message}`, { cause: thrown });
  }
  return new StoreError('Failed', `NATS could not ${attempt}: ${message}`, { cause: thrown });
}

const noRoom = new Set([10023, 10028, 10047, 10002, 10077]);
const noPeers = new Set([10005, 10008, 10074]);

/** The error for a refusal or an unanswered request that no caller handled. */
function finalError(attempt: string, thrown: unknown): unknown {
  if (thrown instanceof JetStreamRefusal) {
    const help = noRoom.has(thrown.code)
      ? ': raise max_file_store of the servers, or lower spec.nats.storagePerTenant'
      : noPeers.has(thrown.code)
        ? ': spec.nats.replicas must not exceed the number of running servers'
        : '';
    const text = `NATS could not ${attempt}: ${thrown.message} (${thrown.code})${help}`;
    return new StoreError('Failed', text, { cause: thrown });
  }
  if (isUnanswered(thrown)) {
    const help =
      'JetStream is disabled for the account, or the servers cannot reserve its storage: raise max_file_store, or lower spec.nats.storagePerTenant';
    return new StoreError('Failed', `NATS could not ${attempt}: ${help}`, { cause: thrown });
  }
  return thrown;
}

/** Runs calls and converts errors that they did not handle into a `StoreError`. */
export async function withStoreErrors<T>(attempt: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw finalError(attempt, error);
  }
}

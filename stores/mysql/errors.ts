import { StoreError } from '../store-error.ts';
import type { StoreErrorReason } from '../store-error.ts';

/** An error of a server or of the connection to it. Contains no statement, which could contain a password. */
export class MysqlError extends Error {
  override readonly name = 'MysqlError';
  /** `ER_…` of the server, `ECONNREFUSED` of the network, `HANDSHAKE_…` of the library. */
  readonly code: string;
  /** The server's number; absent for an error that the server did not report. */
  readonly number: number | undefined;
  constructor(code: string, number: number | undefined, message: string) {
    super(message);
    this.code = code;
    this.number = number;
  }
}

/** A failed attempt at one endpoint. */
export interface MysqlFailure {
  readonly endpoint: string;
  readonly error: MysqlError;
}

/** Converts an error of the library or the network. The message of a syntax error is left out, because it quotes the statement. */
export function mysqlError(thrown: unknown): MysqlError {
  if (thrown instanceof MysqlError) return thrown;
  const fields: { code?: unknown; errno?: unknown; message?: unknown } =
    typeof thrown === 'object' ? (thrown ?? {}) : {};
  const code = typeof fields.code === 'string' ? fields.code : '';
  const number = typeof fields.errno === 'number' && fields.errno > 0 ? fields.errno : undefined;
  if (number === 1064) return new MysqlError(code, number, 'the server does not support a statement of Steward');
  const message = typeof fields.message === 'string' ? fields.message : String(thrown);
  return new MysqlError(code, number, message === '' ? code : message);
}

const is = (...numbers: readonly number[]): ((error: MysqlError) => boolean) => {
  const set = new Set(numbers);
  return ({ number }) => number !== undefined && set.has(number);
};

/** The row is there already. */
export const isDuplicate = is(1062);
/** There is no such database or table. */
export const isAbsent = is(1049, 1146);
/** There is no such connection (anymore). */
export const isGoneThread = is(1094);
/** The name and password were right, but the account has all its connections in use. */
export const isAtConnectionLimit = is(1203, 1226);
/** The name or the password is wrong, or the account requires TLS. */
export const isWrongLogin = is(1045, 1698);
/** A lock was not granted in time. */
export const isLockTimeout = is(1205, 1213);

const readOnly = is(1290, 1836, 1792, 1874);
const ending = is(1053, 1317, 1927, 4031, 1047);
const tooMany = is(1040, 1203, 1226);
const denied = is(1044, 1142, 1143, 1227, 1370, 1410, 1419);
const full = is(1021, 1114, 1041, 1037, 1030, 3675);
const server = ({ number }: MysqlError): boolean => number !== undefined;

/** Access control is disabled, which servers report with the error number of a replica. */
const isOpen = ({ message }: MysqlError): boolean => message.includes('--skip-grant-tables');

/** True when the connection is unusable: lost, closed by the server, or to a server that has become a replica. */
export function isLost(error: MysqlError): boolean {
  return !server(error) || ending(error) || (readOnly(error) && !isOpen(error));
}

interface Explained {
  readonly reason: StoreErrorReason;
  readonly text: string;
}

function explainConnection(error: MysqlError): Explained {
  const { code, message } = error;
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    const text = 'the server does not support TLS: enable it there, or remove spec.tlsConfig';
    return { reason: 'Unsupported', text };
  }
  if (code === 'HANDSHAKE_SSL_ERROR') {
    const text = /alert|certificate required/i.test(message)
      ? `the server rejected the manager's client certificate (${message}): spec.tlsConfig.clientCertificate must be signed by a CA it trusts`
      : `the server's certificate is not trusted (${message}): set spec.tlsConfig.certificateAuthority to its CA, or add its name to the certificate`;
    return { reason: 'Unauthorized', text };
  }
  if (code === 'AUTH_SWITCH_PLUGIN_ERROR') {
    const text = `the account does not log in with a password (${message}): set one for it`;
    return { reason: 'Unauthorized', text };
  }
  if (code === 'READ_ONLY') {
    return { reason: 'Unreachable', text: `${message}: add the primary to spec.endpoints` };
  }
  return { reason: 'Unreachable', text: message.includes(code) ? message : `${code} ${message}`.trim() };
}

function explainLogin(error: MysqlError): Explained | undefined {
  if (isWrongLogin(error)) {
    const text =
      'the server rejected spec.basicAuth: the user or the password is wrong, the account may not log in from here, or it requires TLS and spec.tlsConfig is not set';
    return { reason: 'Unauthorized', text };
  }
  if (error.number === 1130) {
    const text = "the server accepts no connections from the manager's address: create the account for host '%'";
    return { reason: 'Unauthorized', text };
  }
  if (error.number === 3159) {
    return { reason: 'Unauthorized', text: 'the server accepts only encrypted connections: set spec.tlsConfig' };
  }
  if (error.number === 1129) {
    const text = "the server has blocked the manager's address after too many failures: run FLUSH HOSTS there";
    return { reason: 'Unreachable', text };
  }
  if (tooMany(error)) {
    return {
      reason: 'Unreachable',
      text: `the server has no free connection (${error.message}): raise max_connections`,
    };
  }
  return undefined;
}

function explainStatement(error: MysqlError): Explained {
  if (denied(error)) {
    const help =
      "grant the account of spec.basicAuth what it lacks: GRANT ALL PRIVILEGES ON *.* TO '…'@'%' WITH GRANT OPTION";
    return { reason: 'Unauthorized', text: `${error.message}: ${help}` };
  }
  if (isOpen(error)) {
    const text =
      'access control is disabled, so every client could read every tenant: start the server without --skip-grant-tables';
    return { reason: 'Unauthorized', text };
  }
  if (readOnly(error)) {
    return { reason: 'Unreachable', text: `${error.message}: add a server that accepts writes to spec.endpoints` };
  }
  if (ending(error)) return { reason: 'Unreachable', text: error.message };
  if (full(error)) return { reason: 'Failed', text: `${error.message}: its disk or memory is full; free some space` };
  if (isLockTimeout(error)) return { reason: 'Failed', text: `${error.message}: another transaction locks the table` };
  if (error.number === 1819) {
    const text = `${error.message}: passwords that Steward chooses are 36 random characters; relax validate_password for them`;
    return { reason: 'Failed', text };
  }
  return { reason: 'Failed', text: error.message };
}

/** Explains a failure for a person. */
export function explain(error: MysqlError): Explained {
  if (!server(error)) return explainConnection(error);
  return explainLogin(error) ?? explainStatement(error);
}

/** The error when no endpoint is usable; it names every endpoint with its failure. */
export function unreachableError(failures: readonly MysqlFailure[]): StoreError {
  const explained = failures.map(({ endpoint, error }) => ({ endpoint, ...explain(error) }));
  const text = explained.map((one) => `${one.endpoint}: ${one.text}`).join('; ');
  const reason = explained.find((one) => one.reason !== 'Unreachable')?.reason ?? 'Unreachable';
  const cause = failures.length === 1 ? failures[0]?.error : new AggregateError(failures.map(({ error }) => error));
  return new StoreError(reason, reason === 'Unreachable' ? `the database does not answer: ${text}` : text, { cause });
}

/** Translates what a connection threw while it did something. */
export function translated(attempt: string, { endpoint, error }: MysqlFailure): StoreError {
  const { reason, text } = explain(error);
  return new StoreError(reason, `${endpoint} could not ${attempt}: ${text}`, { cause: error });
}

import type { LoginConfig } from '../login-config.ts';
import { PostgresConnection } from './connection.ts';
import { sqlState, unavailableError } from './errors.ts';
import type { Failure } from './errors.ts';

/** How to dial. */
export interface DialOptions {
  /** Which endpoint is tried first; the others follow in their order. */
  readonly first?: number;
  /** The time limit of one statement of the connection in milliseconds; 5000 by default. */
  readonly statementMs?: number;
  /** How long to wait for a lock, in milliseconds; by default as long as for the statement. */
  readonly lockMs?: number;
  /** The role whose rights the session has, unless that of the login. */
  readonly role?: string;
}

/**
 * Connects to the first endpoint that takes writes, and says which one that is. Throws `StoreError` when there is none, or the
 * library's error when there is no such database (`isMissing`).
 */
export async function dialWritable(
  login: LoginConfig,
  database: string,
  { first = 0, ...session }: DialOptions = {},
): Promise<{ readonly connection: PostgresConnection; readonly at: number }> {
  const { endpoints } = login;
  const failures: Failure[] = [];
  for (let tried = 0; tried < endpoints.length; tried += 1) {
    const at = (first + tried) % endpoints.length;
    const endpoint = endpoints[at];
    if (endpoint === undefined) break;
    try {
      const target = { ...login, endpoint, database, ...session };
      const connection = await PostgresConnection.open(target);
      if (await takesWrites(connection)) return { connection, at };
      await connection[Symbol.asyncDispose]();
      failures.push({ endpoint: endpoint.name, error: new Error('it accepts no writes (a standby, or read-only)') });
    } catch (error) {
      if (isMissing(error)) throw error;
      failures.push({ endpoint: endpoint.name, error });
    }
  }
  throw unavailableError(failures);
}

async function takesWrites(connection: PostgresConnection): Promise<boolean> {
  const query = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS closed`;
  return (await connection.run(query))[0]?.closed === false;
}

/** There is no database with that name, or its creation was interrupted before anyone could connect. */
export function isMissing(error: unknown): boolean {
  return ['3D000', '55000'].includes(sqlState(error) ?? '');
}

import type { NamedEndpoint } from '../endpoint.ts';
import type { StoreTls } from '../store-tls.ts';
import type { MysqlVersion } from './version.ts';

/** Milliseconds for a connection with its handshake, and for a statement. */
export const deadlineMs = 5000;

/** Whom to call, and who calls. */
export interface MysqlTarget {
  readonly endpoint: NamedEndpoint;
  readonly username: string;
  readonly password: string;
  readonly tls?: StoreTls | undefined;
  /** The database that names without one mean. */
  readonly database?: string;
}

/** The properties of a server, queried once. */
export interface ServerFacts {
  readonly version: MysqlVersion;
  /** True when `Team` and `team` are the same database (`lower_case_table_names`). */
  readonly foldsNames: boolean;
}

/** One row by column: text, `Buffer` for bytes, decimal text for 64 bits. */
export type Row = Readonly<Record<string, unknown>>;

/** What may stand for a `?`. */
export type Value = string | number | bigint | Buffer | null;

/** One connection to one server, statements one after the other. All methods throw `MysqlError`. */
export interface MysqlConnection extends AsyncDisposable {
  /** `host:port`. */
  readonly endpoint: string;
  readonly facts: ServerFacts;
  /** True while the server is a replica; it may become one at any time. */
  isReadOnly(): Promise<boolean>;
  /** Runs a query with placeholders; the values never become part of the statement. */
  rows(statement: string, values?: readonly Value[], withinMs?: number): Promise<readonly Row[]>;
  /** Changes, with placeholders, and says how many rows. */
  change(statement: string, values?: readonly Value[], withinMs?: number): Promise<number>;
  /** Runs a statement verbatim, for those that support no placeholders. */
  run(statement: string, withinMs?: number): Promise<readonly Row[]>;
  /** Closes at once; statements under way fail. */
  destroy(): void;
}

/** Opens connections; tests give their own. */
export type OpenMysql = (target: MysqlTarget) => Promise<MysqlConnection>;

/** A text of a row; bytes are read as UTF-8. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
}

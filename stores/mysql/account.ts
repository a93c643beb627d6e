import { StoreError } from '../store-error.ts';
import type { Tenancy } from '../driver.ts';
import type { MysqlClient } from './client.ts';
import { textOf } from './connection.ts';
import type { MysqlConnection, Row } from './connection.ts';
import { isGoneThread, MysqlError } from './errors.ts';
import { isSameSchema } from './schema.ts';
import {
  account,
  alterAccount,
  changePassword,
  createAccount,
  fencedPrivileges,
  grantTable,
  kineTable,
  revokeTable,
  tenantPrivileges,
} from './sql.ts';
import type { AccountTerms } from './sql.ts';

/** The wanted state of an account. */
export interface WantedAccount extends AccountTerms {
  readonly schema: string;
  readonly password: string;
  /** True while the tenant may only read. */
  readonly fenced: boolean;
}

/** The hosts under which a user has accounts; empty when there is no such user. */
export async function hostsOf(connection: MysqlConnection, user: string): Promise<readonly string[]> {
  return (await rowsOf(connection, user)).map((row) => textOf(row.Host));
}

async function rowsOf(connection: MysqlConnection, user: string): Promise<readonly Row[]> {
  const statement = 'SELECT Host, ssl_type, max_user_connections FROM mysql.user WHERE User = ?';
  return connection.rows(statement, [user]);
}

/**
 * Creates or updates the account of a tenancy where necessary. Throws `MysqlError`, and `StoreError` when the server rejects its password
 * nevertheless.
 */
export async function ensureAccount(
  client: MysqlClient,
  connection: MysqlConnection,
  wanted: WantedAccount,
): Promise<void> {
  if (await hasForeignRights(connection, wanted)) await dropAccount(connection, wanted.user);
  const found = (await rowsOf(connection, wanted.user)).find((row) => textOf(row.Host) === '%');
  if (found === undefined) await connection.run(createAccount(wanted, wanted.password));
  else if (!meets(found, wanted)) await connection.run(alterAccount(wanted));
  await ensureGrants(connection, wanted);
  if (await client.admits(connection, wanted.user, wanted.password)) return;
  await connection.run(changePassword(wanted.user, wanted.password));
  if (await client.admits(connection, wanted.user, wanted.password)) return;
  const help = `an account with the same name at another host, or an anonymous account, may take precedence over ${account(wanted.user)}: drop it`;
  throw new StoreError('Failed', `${connection.endpoint} rejects the password that was just set: ${help}`);
}

/** Drops a user at every host and ends its connections, which would keep their grants otherwise. */
export async function dropAccount(connection: MysqlConnection, user: string): Promise<void> {
  for (const host of await hostsOf(connection, user)) {
    await connection.run(`DROP USER IF EXISTS ${account(user, host)}`);
  }
  await endConnections(connection, user);
}

async function endConnections(connection: MysqlConnection, user: string): Promise<void> {
  const statement = 'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = ?';
  for (const row of await connection.rows(statement, [user])) {
    try {
      await connection.run(`KILL CONNECTION ${Number(textOf(row.id))}`);
    } catch (error) {
      if (!(error instanceof MysqlError && isGoneThread(error))) throw error;
    }
  }
}

/** An administrator's own limit and a stricter kind of TLS stay. */
function meets(row: Row, { encryption }: AccountTerms): boolean {
  const encrypts = textOf(row.ssl_type) === '' ? 'none' : 'required';
  return (encryption === 'either' || encryption === encrypts) && Number(textOf(row.max_user_connections)) > 0;
}

/** The grants of an account as the server words them; empty when there is no such account. */
async function grantsOf(connection: MysqlConnection, user: string): Promise<readonly string[]> {
  if (!(await hostsOf(connection, user)).includes('%')) return [];
  const rows = await connection.run(`SHOW GRANTS FOR ${account(user)}`);
  return rows.map((row) => textOf(Object.values(row)[0]));
}

const onTable = /^GRANT (.+) ON `(.+)`\.`(.+)` TO /;

/** The privileges that a line grants on the tenancy's own table; undefined for every other line. */
function ownPrivileges(connection: MysqlConnection, line: string, schema: string): ReadonlySet<string> | undefined {
  const [, privileges = '', database = '', table] = onTable.exec(line) ?? [];
  if (!isSameSchema(connection, database, schema) || table !== kineTable) return undefined;
  const set = new Set(privileges.split(', '));
  const plain = [...set].every((one) => (tenantPrivileges as readonly string[]).includes(one));
  return plain && !line.includes(' WITH GRANT OPTION') ? set : undefined;
}

/** True when an account has any right beyond its own table: a grant on databases, a role, a global right, a proxy. */
async function hasForeignRights(
  connection: MysqlConnection,
  { user, schema }: Pick<WantedAccount, 'user' | 'schema'>,
): Promise<boolean> {
  const grants = await grantsOf(connection, user);
  return grants.some((line) => !isUsage(line) && ownPrivileges(connection, line, schema) === undefined);
}

/** `USAGE` means no privilege; MariaDB shows the requirements of the account in the same line. */
function isUsage(line: string): boolean {
  return line.startsWith('GRANT USAGE ON *.* TO ') && !line.includes(' GRANT OPTION');
}

/** Grants missing privileges and revokes surplus ones. */
async function ensureGrants(
  connection: MysqlConnection,
  { user, schema, fenced }: Pick<WantedAccount, 'user' | 'schema' | 'fenced'>,
): Promise<void> {
  const lines = await grantsOf(connection, user);
  const has = new Set(lines.flatMap((line) => [...(ownPrivileges(connection, line, schema) ?? [])]));
  const wanted: readonly string[] = fenced ? fencedPrivileges : tenantPrivileges;
  const missing = wanted.filter((one) => !has.has(one));
  const surplus = [...has].filter((one) => !wanted.includes(one));
  if (missing.length > 0) await connection.run(grantTable(schema, user, missing));
  if (surplus.length > 0) await connection.run(revokeTable(schema, user, surplus));
}

/**
 * Blocks or allows an account's writes from its next statement on, also over open connections. Throws `StoreError` for an account that may
 * have grants beyond its table.
 */
export async function setFence(
  connection: MysqlConnection,
  account: Pick<WantedAccount, 'user' | 'schema' | 'fenced'>,
): Promise<void> {
  await refuseForeignRights(connection, account);
  await ensureGrants(connection, account);
}

/** Throws `StoreError` Failed when an account may do more than use its own table. */
export async function refuseForeignRights(
  connection: MysqlConnection,
  account: Pick<WantedAccount, 'user' | 'schema'>,
): Promise<void> {
  if (!(await hasForeignRights(connection, account))) return;
  const text = `user ${account.user} has grants beyond the table of ${account.schema}: revoke them first`;
  throw new StoreError('Failed', text);
}

/** A tenancy of a driver with passwords carries one. Throws `StoreError` when this one does not. */
export function passwordOf({ schema, password }: Tenancy): string {
  if (password !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(password)) return password;
  throw new StoreError('Failed', `tenancy ${schema} has no password of 1 to 64 letters, digits, "-" and "_"`);
}

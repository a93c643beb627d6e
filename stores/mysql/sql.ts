/**
 * The statements of this driver, as pure texts: definitions of databases, tables and accounts take no placeholders. String
 * literals are written for a session whose sql_mode has no NO_BACKSLASH_ESCAPES, which `openMysqlConnection` sees to.
 */

/** The table in which kine stores a tenant's data. */
export const kineTable = 'kine';

/** The privileges that kine needs on its table; a tenant gets no others. */
export const tenantPrivileges = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;

/** What is left of them while writes are fenced. */
export const fencedPrivileges = ['SELECT'] as const;

/**
 * Connections that one account may hold: three control-plane pods and as many during a roll-out, each with the ten that
 * `kinePool` allows kine.
 */
export const connectionsOfAccount = 60;

/** kine's flags for its pool: it says of itself that it needs 10 to 15 connections under moderate load and sets no limit. */
export const kinePool = { 'datastore-max-open-connections': '10' } as const;

/** Quotes the name of a database or table. Any name but one with NUL can be quoted so; the server refuses that one. */
export function identifier(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** Quotes a string. */
export function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''").replaceAll('\0', '\\0')}'`;
}

/** An account that may log in from anywhere, because pods have no permanent addresses. */
export function account(user: string, host = '%'): string {
  return `${literal(user)}@${literal(host)}`;
}

/** All comparisons in the database are by bytes. */
export function createDatabase(schema: string): string {
  return `CREATE DATABASE IF NOT EXISTS ${identifier(schema)} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
}

/**
 * kine's own table and indexes, created by a single statement so that it is atomic, with one difference: kine 0.16 uses `CHARACTER SET
 * ascii`, whose collation treats `Foo` and `foo` as equal and does not support other letters. With bytes, keys are the same as in etcd.
 */
export function createKineTable(schema: string): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${table(schema)} (` +
    'id BIGINT UNSIGNED AUTO_INCREMENT, name VARCHAR(630) CHARACTER SET binary, created INTEGER, deleted INTEGER, ' +
    'create_revision BIGINT UNSIGNED, prev_revision BIGINT UNSIGNED, lease INTEGER, value MEDIUMBLOB, old_value MEDIUMBLOB, ' +
    'PRIMARY KEY (id), KEY kine_name_index (name), KEY kine_name_id_index (name, id), ' +
    'KEY kine_id_deleted_index (id, deleted), KEY kine_prev_revision_index (prev_revision), ' +
    'UNIQUE KEY kine_name_prev_revision_uindex (name, prev_revision)) ENGINE=InnoDB'
  );
}

/** Converts a table of any version of kine to that of `createKineTable`. The server copies it, and writers wait. */
export function modernizeKineTable(schema: string): string {
  return (
    `ALTER TABLE ${table(schema)} MODIFY COLUMN id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, ` +
    'MODIFY COLUMN name VARCHAR(630) CHARACTER SET binary, ' +
    'MODIFY COLUMN create_revision BIGINT UNSIGNED, MODIFY COLUMN prev_revision BIGINT UNSIGNED'
  );
}

/** The table of a tenancy, for any statement. */
export function table(schema: string): string {
  return `${identifier(schema)}.${identifier(kineTable)}`;
}

/** Whether an account can be used without TLS; `either` does not change that. */
export type Encryption = 'required' | 'either' | 'none';

/** The requirements of an account besides its password. */
export interface AccountTerms {
  readonly user: string;
  readonly encryption: Encryption;
}

/** Creates an account with one statement; a password expiry policy of the server does not apply to it. */
export function createAccount(terms: AccountTerms, password: string): string {
  const name = account(terms.user);
  return `CREATE USER IF NOT EXISTS ${name} IDENTIFIED BY ${literal(password)} ${requirements(terms)} PASSWORD EXPIRE NEVER`;
}

/** Sets the password of an account. */
export function changePassword(user: string, password: string): string {
  return `ALTER USER ${account(user)} IDENTIFIED BY ${literal(password)}`;
}

/** Sets everything of an account but its password. */
export function alterAccount(terms: AccountTerms): string {
  return `ALTER USER ${account(terms.user)} ${requirements(terms)}`;
}

const require: Readonly<Record<Encryption, string>> = { required: 'REQUIRE SSL ', either: '', none: 'REQUIRE NONE ' };

function requirements({ encryption }: AccountTerms): string {
  return `${require[encryption]}WITH MAX_USER_CONNECTIONS ${connectionsOfAccount}`;
}

/**
 * Grants a tenant its table. The grant is on the table, not on the database: in a grant on a database `_` and `%` stand for
 * other characters (unless MySQL 8 runs with partial_revokes, where they do not, and a backslash before them is taken
 * literally); in a grant on a table they never do. A change to it also holds for connections that are open, from their next
 * statement on.
 */
export function grantTable(schema: string, user: string, privileges: readonly string[]): string {
  return `GRANT ${privileges.join(', ')} ON ${table(schema)} TO ${account(user)}`;
}

/** Revokes a tenant's privileges on its table. */
export function revokeTable(schema: string, user: string, privileges: readonly string[]): string {
  return `REVOKE ${privileges.join(', ')} ON ${table(schema)} FROM ${account(user)}`;
}

import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import type { AdministratorCalls } from './client.ts';
import { quoted } from './connection.ts';
import type { PostgresConnection, Row } from './connection.ts';
import { isMissingRight } from './errors.ts';
import { isThere } from './ownership.ts';

/** Databases are created and dropped over a separate connection, because that copies or deletes some hundred files. */
export interface DatabaseCalls extends AdministratorCalls {
  withConnection<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T>;
}

/** Where a tenant's unqualified names are looked up; temporary tables last, so that none hides another one. */
const searchPath = 'search_path=public, pg_temp';

/** CREATE, CONNECT and TEMPORARY. */
const ownersPrivileges = 3;

/** What the server has under the name of a tenancy's schema; undefined when there is no such database. */
export async function readDatabase(calls: AdministratorCalls, schema: string): Promise<Row | undefined> {
  const [database] = await calls.query(
    `read database ${schema}`,
    `SELECT d.datallowconn, d.datistemplate, d.datconnlimit, r.rolname AS owner,
       r.rolsuper OR r.rolname = current_user AS owner_is_ours,
       EXISTS (SELECT FROM pg_db_role_setting s WHERE s.setdatabase = d.oid AND s.setrole = 0) AS has_settings
     FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba WHERE d.datname = $1`,
    [schema],
  );
  return database;
}

/**
 * Creates a database that only its tenant may connect to, or corrects it. The administrator owns it: an owner could open it
 * to others, or lock the manager out. It is created from `template0`, which accepts no connections: a session in another
 * template would prevent the creation.
 */
export async function ensureDatabase(calls: DatabaseCalls, { schema, user }: Tenancy): Promise<void> {
  const name = quoted.name(schema);
  const attempt = `configure database ${schema}`;
  if ((await readDatabase(calls, schema)) === undefined) await create(calls, schema);
  const alter = (what: string): Promise<unknown> => calls.query(attempt, `ALTER DATABASE ${name} ${what}`);
  let database = await readDatabase(calls, schema);
  if (database?.owner_is_ours === false) {
    await alter('OWNER TO CURRENT_USER');
    database = await readDatabase(calls, schema);
  }
  if (database === undefined) throw new StoreError('Failed', `database ${schema} was dropped while it was created`);
  await ensureConnect(calls, schema, { user, owner: String(database.owner) });
  if (database.datistemplate === true) await alter('IS_TEMPLATE false');
  if (database.has_settings === true) await alter('RESET ALL');
  if (database.datconnlimit !== -1) await alter('CONNECTION LIMIT -1');
  if (database.datallowconn !== true) await alter('ALLOW_CONNECTIONS true');
  await calls.within(schema, (connection) => ensureInside(connection, user));
  await ensureSearchPath(calls, schema, user);
}

async function create(calls: DatabaseCalls, schema: string): Promise<void> {
  await calls.withConnection(async (connection) => {
    const attempt = `create database ${schema}`;
    // No role may connect until the grants are set. Keys are compared by their bytes.
    const options = `ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C' ALLOW_CONNECTIONS false`;
    try {
      await connection.query(attempt, `CREATE DATABASE ${quoted.name(schema)} TEMPLATE template0 ${options}`);
    } catch (error) {
      // Another operator was faster.
      if (!(error instanceof StoreError) || !isThere(error.cause)) throw error;
    }
  });
}

/**
 * The tenant may connect, the owner has all privileges, and others have none. The right grant comes first, because the tenant may be
 * running.
 */
async function ensureConnect(
  calls: AdministratorCalls,
  schema: string,
  { user, owner }: { readonly user: string; readonly owner: string },
): Promise<void> {
  const attempt = `set the grants of database ${schema}`;
  const grants = await calls.query(
    attempt,
    `SELECT coalesce(r.rolname, '') AS name, g.grantee = d.datdba AS is_owner, g.privilege_type AS privilege,
       g.is_grantable AS grantable
     FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) g LEFT JOIN pg_roles r ON r.oid = g.grantee
     WHERE d.datname = $1`,
    [schema],
  );
  const on = `ON DATABASE ${quoted.name(schema)}`;
  const isOwners = (grant: Row): boolean => grant.is_owner === true;
  const isRight = (grant: Row): boolean =>
    grant.name === user && grant.privilege === 'CONNECT' && grant.grantable === false;
  if (!grants.some(isRight)) await calls.query(attempt, `GRANT CONNECT ${on} TO ${quoted.name(user)}`);
  if (grants.filter(isOwners).length < ownersPrivileges) {
    await calls.query(attempt, `GRANT ALL ${on} TO ${quoted.name(owner)}`);
  }
  for (const { name, privilege } of grants.filter((grant) => !isOwners(grant) && !isRight(grant))) {
    const from = name === '' ? 'PUBLIC' : quoted.name(String(name));
    // The tenant keeps its right to connect, but not that to pass it on.
    const what = name === user && privilege === 'CONNECT' ? 'GRANT OPTION FOR CONNECT' : String(privilege);
    await calls.query(attempt, `REVOKE ${what} ${on} FROM ${from} CASCADE`);
  }
}

/** Only the tenant may create tables in the schema `public`, and it owns kine's table. */
async function ensureInside(connection: PostgresConnection, user: string): Promise<void> {
  const attempt = `set the grants inside database ${connection.database}`;
  const tenant = quoted.name(user);
  const [found] = await connection.query(
    attempt,
    `SELECT to_regnamespace('public') IS NOT NULL AS there,
       EXISTS (SELECT FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
         WHERE c.oid = to_regclass('public.kine') AND r.rolname <> $1) AS is_anothers`,
    [user],
  );
  if (found?.there !== true) await connection.query(attempt, 'CREATE SCHEMA public');
  await connection.query(attempt, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await connection.query(attempt, `GRANT USAGE, CREATE ON SCHEMA public TO ${tenant}`);
  if (found?.is_anothers === true) await connection.query(attempt, `ALTER TABLE public.kine OWNER TO ${tenant}`);
}

async function ensureSearchPath(calls: AdministratorCalls, schema: string, user: string): Promise<void> {
  const attempt = `set the search path of role ${user}`;
  const [setting] = await calls.query(
    attempt,
    `SELECT s.setconfig @> ARRAY[$3::text] AS right FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
       JOIN pg_roles r ON r.oid = s.setrole WHERE d.datname = $1 AND r.rolname = $2`,
    [schema, user, searchPath],
  );
  if (setting?.right === true) return;
  const where = `ALTER ROLE ${quoted.name(user)} IN DATABASE ${quoted.name(schema)}`;
  await calls.query(attempt, `${where} SET search_path TO public, pg_temp`);
}

/** Bytes of all files of a database: its tables, indexes and catalog; undefined when there is no such database. */
export async function databaseSize(calls: AdministratorCalls, schema: string): Promise<number | undefined> {
  const statement = 'SELECT pg_database_size(oid)::float8 AS bytes FROM pg_database WHERE datname = $1';
  const [row] = await calls.query(`measure database ${schema}`, statement, [schema]);
  return typeof row?.bytes === 'number' ? row.bytes : undefined;
}

/** Drops a database and closes its connections. */
export async function dropDatabase(calls: DatabaseCalls, schema: string): Promise<void> {
  const database = await readDatabase(calls, schema);
  if (database === undefined) return;
  const name = quoted.name(schema);
  const attempt = `drop database ${schema}`;
  if (database.datallowconn === true) await endPrepared(calls, schema);
  if (database.datistemplate === true) await calls.query(attempt, `ALTER DATABASE ${name} IS_TEMPLATE false`);
  await calls.withConnection((connection) => dropForced(connection, schema));
}

/**
 * FORCE requires the right to end every process in the database before it ends one, and only a superuser may end the server's autovacuum.
 * Without FORCE, the server ends autovacuum itself, but requires that all clients have left.
 */
async function dropForced(connection: PostgresConnection, schema: string): Promise<void> {
  const attempt = `drop database ${schema}`;
  const statement = `DROP DATABASE IF EXISTS ${quoted.name(schema)}`;
  try {
    await connection.query(attempt, `${statement} WITH (FORCE)`);
  } catch (error) {
    if (!(error instanceof StoreError) || !isMissingRight(error.cause)) throw error;
    const clients = 'pg_stat_activity WHERE datname = $1 AND usesysid IS NOT NULL';
    await connection.query(attempt, `SELECT pg_terminate_backend(pid, 2000) FROM ${clients}`, [schema]);
    await connection.query(attempt, statement);
  }
}

/** Transactions that were prepared outlive their connections and keep a database from being dropped. */
async function endPrepared(calls: AdministratorCalls, schema: string): Promise<void> {
  const attempt = `roll back prepared transactions in database ${schema}`;
  const prepared = await calls.query(attempt, 'SELECT gid FROM pg_prepared_xacts WHERE database = $1', [schema]);
  if (prepared.length === 0) return;
  await calls.within(schema, async (connection) => {
    for (const { gid } of prepared) await connection.query(attempt, `ROLLBACK PREPARED ${quoted.text(String(gid))}`);
  });
}

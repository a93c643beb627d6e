import type { Client } from 'pg';
import type { Tenant } from '../../driver.ts';
import { reaching } from '../../isolation/attempt.ts';
import type { Attempt, Try } from '../../isolation/attempt.ts';
import type { LoginConfig } from '../../login-config.ts';
import { quoted } from '../connection.ts';
import { sqlState } from '../errors.ts';
import { ownershipDatabase } from '../names.ts';
import { rawPostgres } from './raw-client.ts';
import type { RawLogin } from './raw-client.ts';

/** Thrown by an attempt whose answer does not contain what it tried to find: the server hides what it does not refuse. */
class HiddenError extends Error {
  override readonly name = 'HiddenError';
}

/**
 * The codes with which a server refuses for want of a right or of a login. That it has no connection left (53300) says nothing about
 * isolation.
 */
const refusals = new Set(['42501', '28000', '28P01']);

/** True for a refusal of the server, or for nothing found. */
export function isPostgresRefusal(error: unknown): boolean {
  return error instanceof HiddenError || refusals.has(sqlState(error) ?? '');
}

/**
 * True for an error that the server reported about the attempt itself. Classes 53, 57 and 58, for example a lack of connections or a
 * shutdown, are about the server.
 */
export function isPostgresAnswer(error: unknown): boolean {
  if (isPostgresRefusal(error)) return true;
  const state = sqlState(error);
  return state !== undefined && !/^(?:08|53|57|58)/.test(state);
}

/** What the attacker has: a connection of its own, and the way to more. */
export interface Attacker {
  readonly config: LoginConfig;
  readonly client: Client;
  readonly attacker: Tenant;
  readonly victim: Tenant;
  /** The process of a connection of the victim's, whose last statement holds `secret`. */
  readonly victimProcess: number;
  readonly secret: string;
}

/** Succeeds when the server runs the statement; then it is undone, for others are tried after it. */
function statement({ client }: Attacker, text: string, undo?: string): Try {
  return {
    name: text,
    run: async () => {
      await client.query(text);
      if (undo !== undefined) await client.query(undo);
    },
  };
}

/** Succeeds if the server finally returns `true`: it answers some statements only with a warning. */
function effect({ client }: Attacker, text: string, seen: string): Try {
  return {
    name: text,
    run: async () => {
      await client.query(text);
      const { rows } = await client.query<{ seen: unknown }>(`SELECT (${seen}) AS seen`);
      if (rows[0]?.seen !== true) throw new HiddenError('without effect');
    },
  };
}

/** Succeeds when the answer holds the text that is another's. */
function look({ client }: Attacker, text: string, forbidden: string): Try {
  return {
    name: text,
    run: async () => {
      const { rows } = await client.query(text);
      if (!JSON.stringify(rows).includes(forbidden)) throw new HiddenError(`nothing of ${forbidden}`);
    },
  };
}

/** Succeeds when the server lets the login in and then runs the statement. */
function login({ config, attacker }: Attacker, name: string, over: Partial<RawLogin>, text = 'SELECT 1'): Try {
  return {
    name,
    run: async () => {
      const client = await rawPostgres(config, attacker, over);
      try {
        await client.query(text);
      } finally {
        await client.end();
      }
    },
  };
}

/** Other databases, other users, and sessions that begin as another user. */
export function loginAttacks(attack: Attacker): readonly Attempt[] {
  const { schema: database, user, password = '' } = attack.victim.tenancy;
  const own = attack.attacker.tenancy;
  const session = (options: string): Try => login(attack, `begin a session with ${options}`, { options });
  const tenants = [
    login(attack, 'connect to the database of another tenant', { database }),
    login(attack, 'read the keys of another tenant', { database }, 'SELECT 1 FROM public.kine LIMIT 1'),
    login(attack, 'write the keys of another tenant', { database }, `UPDATE public.kine SET value = 'x'`),
    login(attack, 'drop the keys of another tenant', { database }, 'DROP TABLE public.kine'),
    login(
      attack,
      'read the ownership records',
      { database: ownershipDatabase },
      'SELECT 1 FROM public.tenancies LIMIT 1',
    ),
    login(attack, 'log in as another tenant with the own password', { user, database }),
    login(attack, 'log in as another tenant with its name as the password', { user, database, password: user }),
    login(attack, 'log in with the password of another tenant', { password }),
    login(attack, 'replicate the server', { replication: 'true' }, 'IDENTIFY_SYSTEM'),
    login(attack, 'replicate the own database', { replication: 'database' }, 'IDENTIFY_SYSTEM'),
    login(attack, 'replicate the database of another tenant', { replication: 'database', database }, 'IDENTIFY_SYSTEM'),
    session(`-c role=${user}`),
    session('-c role=postgres'),
    session('-c session_preload_libraries=x'),
    session('-c log_statement=none'),
    session('-c session_replication_role=replica'),
    login(attack, 'begin a session as another tenant', { options: `-c session_authorization=${user}`, user: own.user }),
  ];
  const server = [
    login(
      attack,
      'change the ownership records',
      { database: ownershipDatabase },
      `UPDATE public.tenancies SET owner = 'x'`,
    ),
    login(
      attack,
      'create a table in the database of administrators',
      { database: 'postgres' },
      'CREATE TABLE x (y int)',
    ),
    login(attack, 'create a schema in the database of administrators', { database: 'postgres' }, 'CREATE SCHEMA x'),
    login(attack, 'create a table in the template', { database: 'template1' }, 'CREATE TABLE x (y int)'),
    login(
      attack,
      'create a function in the template',
      { database: 'template1' },
      `CREATE FUNCTION x () RETURNS int RETURN 1`,
    ),
    login(attack, 'log in as the superuser with the own password', { user: 'postgres', database: 'postgres' }),
  ];
  return [...reaching('tenants', tenants), ...reaching('server', server)];
}

/** Roles and databases, the own and the neighbor's. */
export function administrationAttacks(attack: Attacker): readonly Attempt[] {
  const own = {
    user: quoted.name(attack.attacker.tenancy.user),
    database: quoted.name(attack.attacker.tenancy.schema),
  };
  const other = { user: quoted.name(attack.victim.tenancy.user), database: quoted.name(attack.victim.tenancy.schema) };
  const name = quoted.text(attack.victim.tenancy.schema);
  const myself = quoted.text(attack.attacker.tenancy.user);
  const bare = (text: string, undo?: string): Try => statement(attack, text, undo);
  const member = (role: string): Try => bare(`GRANT ${role} TO ${own.user}`, `REVOKE ${role} FROM ${own.user}`);
  const renaming = (database: string): Try =>
    bare(`ALTER DATABASE ${database} RENAME TO mallory`, `ALTER DATABASE mallory RENAME TO ${database}`);
  const ofDatabase = (database: string): readonly Try[] => [
    bare(`ALTER DATABASE ${database} OWNER TO ${own.user}`),
    bare(`ALTER DATABASE ${database} CONNECTION LIMIT 0`, `ALTER DATABASE ${database} CONNECTION LIMIT -1`),
    bare(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`),
    bare(`ALTER DATABASE ${database} IS_TEMPLATE true`, `ALTER DATABASE ${database} IS_TEMPLATE false`),
    bare(`ALTER DATABASE ${database} SET search_path = evil`, `ALTER DATABASE ${database} RESET ALL`),
    bare(`COMMENT ON DATABASE ${database} IS 'x'`, `COMMENT ON DATABASE ${database} IS NULL`),
  ];
  // Named after the attacker, so that its origin is known if it is found after a crash.
  const more = quoted.name(`${attack.attacker.tenancy.user}_more`);
  const tenants = [
    bare(`CREATE ROLE ${more}`, `DROP ROLE ${more}`),
    bare(`CREATE ROLE ${more} SUPERUSER`, `DROP ROLE ${more}`),
    bare(`CREATE DATABASE ${more}`, `DROP DATABASE ${more}`),
    bare(`CREATE DATABASE ${more} TEMPLATE ${other.database}`, `DROP DATABASE ${more}`),
    ...['SUPERUSER', 'CREATEDB', 'CREATEROLE', 'REPLICATION', 'BYPASSRLS', 'CONNECTION LIMIT -1'].map((option) =>
      bare(`ALTER ROLE ${own.user} ${option}`),
    ),
    bare(`ALTER ROLE ${other.user} PASSWORD 'x'`),
    bare(`ALTER ROLE ${other.user} NOLOGIN`),
    bare(`ALTER ROLE ${other.user} SET search_path = evil`),
    bare(`DROP ROLE ${other.user}`),
    bare(`DROP OWNED BY ${other.user}`),
    bare(`REASSIGN OWNED BY ${other.user} TO ${own.user}`),
    ...[other.user, 'postgres', 'pg_read_all_data', 'pg_read_server_files', 'pg_execute_server_program'].map(member),
    ...['pg_monitor', 'pg_signal_backend', 'pg_checkpoint', 'pg_read_all_stats'].map(member),
    bare(`SET ROLE ${other.user}`, 'RESET ROLE'),
    bare('SET ROLE postgres', 'RESET ROLE'),
    bare('SET ROLE pg_read_all_data', 'RESET ROLE'),
    bare(`SET SESSION AUTHORIZATION ${other.user}`, 'RESET SESSION AUTHORIZATION'),
    bare('SET SESSION AUTHORIZATION postgres', 'RESET SESSION AUTHORIZATION'),
    ...[own.database, other.database].flatMap(ofDatabase),
    bare(`DROP DATABASE ${other.database} WITH (FORCE)`),
    bare(`GRANT CONNECT ON DATABASE ${other.database} TO ${own.user}`),
    bare(`GRANT ALL ON DATABASE ${other.database} TO PUBLIC`),
    bare(`REVOKE CONNECT ON DATABASE ${other.database} FROM ${other.user}`),
    effect(
      attack,
      `GRANT CONNECT ON DATABASE ${own.database} TO PUBLIC`,
      `has_database_privilege('public', current_database(), 'CONNECT')`,
    ),
    effect(
      attack,
      `GRANT ALL ON DATABASE ${own.database} TO ${own.user}`,
      `has_database_privilege(current_database(), 'CREATE')`,
    ),
    effect(attack, `GRANT CREATE ON SCHEMA public TO PUBLIC`, `has_schema_privilege('public', 'public', 'CREATE')`),
    effect(attack, `SELECT has_database_privilege(${name}, 'CONNECT')`, `has_database_privilege(${name}, 'CONNECT')`),
    effect(
      attack,
      `SELECT pg_has_role(${myself}, 'pg_read_all_data', 'MEMBER')`,
      `pg_has_role(${myself}, 'pg_read_all_data', 'MEMBER')`,
    ),
  ];
  const server = [
    bare(`ALTER ROLE ${other.user} RENAME TO mallory`, `ALTER ROLE mallory RENAME TO ${other.user}`),
    bare(`ALTER ROLE postgres PASSWORD 'x'`),
    bare(`DROP DATABASE ${ownershipDatabase}`),
    ...[own.database, other.database, ownershipDatabase].map(renaming),
    ...ofDatabase(ownershipDatabase),
  ];
  return [...reaching('tenants', tenants), ...reaching('server', server)];
}

/** The server's machine and its other users, from within the own database. */
export function serverAttacks(attack: Attacker): readonly Attempt[] {
  const { victimProcess, secret } = attack;
  const bare = (text: string, undo?: string): Try => statement(attack, text, undo);
  const inC = `AS '$libdir/plpgsql', 'plpgsql_call_handler' LANGUAGE c`;
  const tenants = [
    ...['/etc/passwd', 'pg_hba.conf', 'postgresql.auto.conf'].map((path) => bare(`SELECT pg_read_file('${path}')`)),
    bare(`SELECT pg_read_binary_file('/etc/passwd')`),
    bare(`SELECT pg_stat_file('/etc/passwd')`),
    ...["pg_ls_dir('/')", 'pg_ls_logdir()', 'pg_ls_waldir()', 'pg_ls_tmpdir()'].map((call) => bare(`SELECT ${call}`)),
    bare(`SELECT lo_import('/etc/passwd')`),
    bare(`COPY (SELECT 1) TO PROGRAM 'id'`),
    bare(`CREATE TABLE stolen (line text); COPY stolen FROM '/etc/passwd'; DROP TABLE stolen`),
    bare(`CREATE TABLE stolen (line text); COPY stolen FROM PROGRAM 'id'; DROP TABLE stolen`),
    bare(`LOAD '$libdir/plpgsql'`),
    bare(`CREATE FUNCTION evil () RETURNS language_handler ${inC}`, 'DROP FUNCTION evil'),
    bare(`CREATE FUNCTION evil () RETURNS int AS 'int4in' LANGUAGE internal`, 'DROP FUNCTION evil'),
    ...['dblink', 'postgres_fdw', 'file_fdw', 'pgcrypto', 'hstore', 'pg_stat_statements'].map((extension) =>
      bare(`CREATE EXTENSION ${extension}`, `DROP EXTENSION ${extension}`),
    ),
    bare('CREATE SCHEMA mine', 'DROP SCHEMA mine'),
    bare('CREATE TEMPORARY TABLE t (x int)', 'DROP TABLE t'),
    bare('CREATE PUBLICATION mine', 'DROP PUBLICATION mine'),
    bare(`CREATE SUBSCRIPTION mine CONNECTION 'dbname=x' PUBLICATION x WITH (connect = false)`),
    bare('CREATE FOREIGN DATA WRAPPER mine', 'DROP FOREIGN DATA WRAPPER mine'),
    bare('CREATE ACCESS METHOD mine TYPE INDEX HANDLER bthandler'),
    bare('CREATE CAST (int AS bytea) WITHOUT FUNCTION'),
    ...['log_statement = none', 'session_replication_role = replica', 'temp_file_limit = -1'].map((set) =>
      bare(`SET ${set}`, `RESET ${set.split(' ')[0] ?? ''}`),
    ),
    bare(`SELECT pg_terminate_backend(${victimProcess})`),
    bare(`SELECT pg_cancel_backend(${victimProcess})`),
    ...['pg_authid', 'pg_shadow', 'pg_file_settings', 'pg_hba_file_rules', 'pg_subscription', 'pg_user_mapping'].map(
      (name) => bare(`SELECT * FROM ${name} LIMIT 1`),
    ),
    ...['data_directory', 'hba_file', 'config_file'].map((name) => bare(`SHOW ${name}`)),
    look(attack, `SELECT * FROM pg_stat_activity WHERE pid = ${victimProcess}`, secret),
    look(attack, `SELECT * FROM pg_stat_get_activity(${victimProcess})`, secret),
    look(
      attack,
      `SELECT pg_stat_get_backend_activity(i) FROM pg_stat_get_backend_idset() i WHERE pg_stat_get_backend_pid(i) = ${victimProcess}`,
      secret,
    ),
  ];
  const server = [
    bare(`SELECT lo_export(0, '/tmp/mallory')`),
    bare(`COPY (SELECT 1) TO '/tmp/mallory'`),
    bare(`CREATE TABLESPACE mine LOCATION '/tmp'`, 'DROP TABLESPACE mine'),
    bare(`SELECT pg_create_physical_replication_slot('mine')`, `SELECT pg_drop_replication_slot('mine')`),
    bare(`SELECT pg_create_logical_replication_slot('mine', 'test_decoding')`),
    ...[
      'pg_reload_conf()',
      'pg_rotate_logfile()',
      'pg_switch_wal()',
      `pg_create_restore_point('x')`,
      'pg_promote()',
    ].map((call) => bare(`SELECT ${call}`)),
    bare('CHECKPOINT'),
    bare(`ALTER SYSTEM SET log_statement = 'none'`, 'ALTER SYSTEM RESET log_statement'),
    bare(`SELECT pg_log_backend_memory_contexts(${victimProcess})`),
  ];
  return [...reaching('tenants', tenants), ...reaching('server', server)];
}

import type { NamesOfServer } from '../../../../stores/contract/driver-contract.ts';
import { ownershipDatabase } from '../../../../stores/postgres/names.ts';
import type { PostgresServer } from '../../../servers/postgres-server.ts';

/** One question, whose rows are lines of the dump; the word before them says what they are. */
type Question = readonly [what: string, statement: string];

const ofServer: readonly Question[] = [
  [
    'role',
    `SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil
     FROM pg_roles WHERE NOT starts_with(rolname, 'pg_')`,
  ],
  [
    'member',
    `SELECT m.roleid::regrole AS role, m.member::regrole AS member, m.admin_option FROM pg_auth_members m WHERE m.roleid >= 16384 OR m.member >= 16384`,
  ],
  [
    'setting',
    `SELECT d.datname, r.rolname, s.setconfig FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase
     LEFT JOIN pg_roles r ON r.oid = s.setrole`,
  ],
  [
    'database',
    `SELECT datname, datdba::regrole AS owner, (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(datacl) a) AS acl,
       datallowconn, datistemplate, datconnlimit FROM pg_database WHERE datname <> '${ownershipDatabase}'`,
  ],
  ['prepared transaction', 'SELECT gid, database FROM pg_prepared_xacts'],
  ['replication slot', 'SELECT slot_name FROM pg_replication_slots'],
];

const ofDatabase: readonly Question[] = [
  [
    'schema',
    `SELECT nspname, nspowner::regrole AS owner, nspacl FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`,
  ],
  [
    'relation',
    `SELECT relname, relkind, relowner::regrole AS owner, relacl FROM pg_class
     WHERE relnamespace = to_regnamespace('public')`,
  ],
  [
    'function',
    `SELECT proname, proowner::regrole AS owner, proacl FROM pg_proc WHERE pronamespace = to_regnamespace('public')`,
  ],
  ['large object', 'SELECT oid FROM pg_largeobject_metadata'],
];

/** All questions as one: connections are what takes the time. */
async function answers(
  server: PostgresServer,
  questions: readonly Question[],
  database = 'postgres',
): Promise<readonly string[]> {
  const parts = questions.map(
    ([what, statement]) => `SELECT '${what}' AS what, to_json(x)::text AS line FROM (${statement}) x`,
  );
  const found = await server.sql(parts.join(' UNION ALL '), database);
  return found.map(({ what, line }) => `${String(what)} ${database} ${String(line)}`);
}

async function hasTable(server: PostgresServer, table: string, database: string): Promise<boolean> {
  return (await server.sql(`SELECT to_regclass('public.${table}') IS NOT NULL AS there`, database))[0]?.there === true;
}

async function dumpDatabase(server: PostgresServer, database: string): Promise<readonly string[]> {
  if (database !== ownershipDatabase) {
    const kine = (await hasTable(server, 'kine', database)) ? [['key', 'SELECT * FROM public.kine'] as const] : [];
    return answers(server, [...ofDatabase, ...kine], database);
  }
  // Made by the first tenancy, and kept: what matters is what it holds.
  if (!(await hasTable(server, 'tenancies', database))) return [];
  return answers(server, [['record', 'SELECT * FROM public.tenancies']], database);
}

/** Every role, grant, setting and database with its objects, every record of an owner, and every row of kine's; no password. */
export async function dumpPostgres(server: PostgresServer): Promise<readonly string[]> {
  const databases = await server.sql('SELECT datname FROM pg_database WHERE datallowconn');
  const inside = databases.map(({ datname }) => dumpDatabase(server, String(datname)));
  const lines = await Promise.all([answers(server, ofServer), ...inside]);
  return lines.flat().sort();
}

/** The databases and roles of a server, exactly as it has them. */
export async function namesOfPostgres(server: PostgresServer): Promise<NamesOfServer> {
  const databases = await server.sql(`SELECT datname AS name FROM pg_database WHERE datname <> '${ownershipDatabase}'`);
  const roles = await server.sql('SELECT rolname AS name FROM pg_roles');
  const texts = (found: typeof roles): readonly string[] => found.map(({ name }) => String(name));
  return { schemas: texts(databases), users: texts(roles) };
}

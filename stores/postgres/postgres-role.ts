import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import type { AdministratorCalls } from './postgres-client.ts';
import { quoted } from './postgres-connection.ts';
import type { Row } from './postgres-connection.ts';
import { tenantConnections } from './postgres-limits.ts';
import { copyLoginPrefix } from './postgres-copy-names.ts';
import { isThere } from './postgres-ownership.ts';
import { saltOf, scramVerifier } from './scram-verifier.ts';

/** What a tenant's login is, attribute by attribute: the option that makes it so, and how to see that it is not. */
const attributes: readonly (readonly [option: string, differs: (role: Row) => boolean])[] = [
  ['LOGIN', (role) => role.rolcanlogin !== true],
  ['NOSUPERUSER', (role) => role.rolsuper !== false],
  ['NOCREATEDB', (role) => role.rolcreatedb !== false],
  ['NOCREATEROLE', (role) => role.rolcreaterole !== false],
  ['NOREPLICATION', (role) => role.rolreplication !== false],
  ['NOBYPASSRLS', (role) => role.rolbypassrls !== false],
  [`CONNECTION LIMIT ${tenantConnections}`, (role) => role.rolconnlimit !== tenantConnections],
  [`VALID UNTIL 'infinity'`, (role) => role.until !== null && role.until !== 'infinity'],
];

/** What the server has under the name of a tenancy's user; undefined when there is no such role. */
export async function readRole(calls: AdministratorCalls, user: string): Promise<Row | undefined> {
  const [role] = await calls.query(
    `read role ${user}`,
    `SELECT rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolconnlimit,
       rolvaliduntil::text AS until FROM pg_roles WHERE rolname = $1`,
    [user],
  );
  return role;
}

/**
 * A login that may nothing but what is granted to it, with the tenancy's password. Attributes are only named where they differ:
 * an administrator who is no superuser may not even deny some of them.
 */
export async function ensureRole(calls: AdministratorCalls, { user, owner, password }: Tenancy): Promise<void> {
  if (password === undefined || password === '') {
    throw new StoreError('Failed', `the tenancy of user ${user} has no password, and PostgreSQL asks for one`);
  }
  const name = quoted.name(user);
  const login = `PASSWORD ${quoted.text(await scramVerifier(password, saltOf(owner, user)))}`;
  const role = await readRole(calls, user);
  if (role === undefined) await create(calls, user, `LOGIN CONNECTION LIMIT ${tenantConnections} ${login}`);
  else {
    const wrong = attributes.filter(([, differs]) => differs(role)).map(([option]) => option);
    await calls.query(`set role ${user} right`, `ALTER ROLE ${name} ${[...wrong, login].join(' ')}`);
  }
  await ensureMembership(calls, user);
}

async function create(calls: AdministratorCalls, user: string, options: string): Promise<void> {
  const name = quoted.name(user);
  try {
    await calls.query(`create role ${user}`, `CREATE ROLE ${name} ${options}`);
  } catch (error) {
    // An operator that was cut off, or another one, was faster.
    if (!(error instanceof StoreError) || !isThere(error.cause)) throw error;
    await calls.query(`set role ${user} right`, `ALTER ROLE ${name} ${options}`);
  }
}

/** What it takes to ask one server. */
type Asking = Pick<AdministratorCalls, 'query'>;

/**
 * A tenant is a member of nothing, and nobody but the administrator and the logins of copies under way is a member of it.
 * Throws `StoreError`.
 */
export async function ensureMembership(calls: Asking, user: string): Promise<void> {
  const attempt = `set the memberships of role ${user} right`;
  const grants = await calls.query(
    attempt,
    `SELECT g.rolname AS role, m.rolname AS member, o.rolname AS grantor,
       current_setting('server_version_num')::int >= 160000 AS by_grantor
     FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
       LEFT JOIN pg_roles o ON o.oid = a.grantor
     WHERE m.rolname = $1 OR (g.rolname = $1 AND m.rolname <> current_user AND NOT starts_with(m.rolname, $2))`,
    [user, copyLoginPrefix(user)],
  );
  for (const { role, member, grantor, by_grantor: byGrantor } of grants) {
    // From version 16 on there is one grant for each grantor.
    const by = byGrantor === true ? ` GRANTED BY ${quoted.name(String(grantor))} CASCADE` : '';
    await calls.query(attempt, `REVOKE ${quoted.name(String(role))} FROM ${quoted.name(String(member))}${by}`);
  }
  await ensureOwnMembership(calls, user);
}

/**
 * An administrator who is no superuser must be a member of a role to end its connections and to drop what it owns. Throws
 * `StoreError`.
 */
export async function ensureOwnMembership(calls: Asking, user: string): Promise<void> {
  const attempt = `become a member of role ${user}`;
  const [own] = await calls.query(attempt, `SELECT pg_has_role(current_user, $1::name, 'USAGE') AS enough`, [user]);
  if (own?.enough !== true) await calls.query(attempt, `GRANT ${quoted.name(user)} TO CURRENT_USER`);
}

/** Drops a role and what it owns or was granted in whatever database. Its own database must be gone. */
export async function dropRole(calls: AdministratorCalls, user: string): Promise<void> {
  if ((await readRole(calls, user)) === undefined) return;
  const name = quoted.name(user);
  const attempt = `drop role ${user}`;
  const databases = await calls.query(
    attempt,
    `SELECT DISTINCT d.datname FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid
     WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = (SELECT oid FROM pg_roles WHERE rolname = $1)`,
    [user],
  );
  for (const { datname } of databases) {
    await calls.within(String(datname), (connection) => connection.query(attempt, `DROP OWNED BY ${name} CASCADE`));
  }
  // In any database: grants on databases are not of one.
  await calls.query(attempt, `DROP OWNED BY ${name}`);
  await calls.query(attempt, `DROP ROLE IF EXISTS ${name}`);
}

import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import type { AdministratorCalls } from './client.ts';
import { quoted } from './connection.ts';
import type { Row } from './connection.ts';
import { tenantConnections } from './limits.ts';
import { copyLoginPrefix } from './data/copy-names.ts';
import { isThere } from './ownership.ts';
import { saltOf, scramVerifier } from './scram-verifier.ts';

/** The attributes of a tenant's role: the option that sets each one, and a check whether it differs. */
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
 * Creates or updates the tenant's role with the tenancy's password and without special attributes. Only attributes that differ are set,
 * because an administrator that is not a superuser may not even unset some of them.
 */
export async function ensureRole(calls: AdministratorCalls, { user, owner, password }: Tenancy): Promise<void> {
  if (password === undefined || password === '') {
    throw new StoreError('Failed', `the tenancy of user ${user} has no password, but PostgreSQL requires one`);
  }
  const name = quoted.name(user);
  const login = `PASSWORD ${quoted.text(await scramVerifier(password, saltOf(owner, user)))}`;
  const role = await readRole(calls, user);
  if (role === undefined) await create(calls, user, `LOGIN CONNECTION LIMIT ${tenantConnections} ${login}`);
  else {
    const wrong = attributes.filter(([, differs]) => differs(role)).map(([option]) => option);
    await calls.query(`configure role ${user}`, `ALTER ROLE ${name} ${[...wrong, login].join(' ')}`);
  }
  await ensureMembership(calls, user);
}

async function create(calls: AdministratorCalls, user: string, options: string): Promise<void> {
  const name = quoted.name(user);
  try {
    await calls.query(`create role ${user}`, `CREATE ROLE ${name} ${options}`);
  } catch (error) {
    // Another manager, or an interrupted one, was faster.
    if (!(error instanceof StoreError) || !isThere(error.cause)) throw error;
    await calls.query(`configure role ${user}`, `ALTER ROLE ${name} ${options}`);
  }
}

/** The inputs for a query of one server. */
type Asking = Pick<AdministratorCalls, 'query'>;

/**
 * A tenant's role is a member of no role, and only the administrator and the roles of running copies are members of it.
 * Throws `StoreError`.
 */
export async function ensureMembership(calls: Asking, user: string): Promise<void> {
  const attempt = `set the memberships of role ${user}`;
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

/** Drops a role with what it owns or was granted in any database. Its own database must be gone. */
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
  // In any database, for grants on databases themselves.
  await calls.query(attempt, `DROP OWNED BY ${name}`);
  await calls.query(attempt, `DROP ROLE IF EXISTS ${name}`);
}

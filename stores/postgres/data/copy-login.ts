import { randomBytes } from 'node:crypto';
import { copyLoginPrefix } from './copy-names.ts';
import type { DatabaseCalls } from '../database.ts';
import { quoted } from '../connection.ts';
import { StoreError } from '../../store-error.ts';
import { lockOut } from '../revoke-connect.ts';
import { dropRole } from '../grants.ts';
import { scramVerifier } from '../scram-verifier.ts';

/** How long the password is valid: it is used at once, and open connections stay. */
const usable = '5 minutes';

/** One connection, and one whose end the server has not noticed yet. */
const connections = 2;

/** A role with a password that was created for one copy. */
export interface CopyLogin {
  readonly username: string;
  readonly password: string;
}

/**
 * Creates a role with a password that is a member of the tenant's role and nothing else: the tenant's password is unknown here, and code of
 * the tenant that resets its role gets no other rights. Also drops what interrupted copies have left behind.
 */
export async function makeCopyLogin(calls: DatabaseCalls, user: string): Promise<CopyLogin> {
  await dropLogins(calls, await abandoned(calls, user));
  const username = `${copyLoginPrefix(user)}${randomBytes(4).toString('hex')}`;
  const password = randomBytes(24).toString('hex');
  const attempt = `create a role for copying ${user}`;
  const [time] = await calls.query(attempt, `SELECT (now() + interval '${usable}')::text AS until`);
  const options = [
    `LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT CONNECTION LIMIT ${connections}`,
    `PASSWORD ${quoted.text(await scramVerifier(password, randomBytes(16)))}`,
    `VALID UNTIL ${quoted.text(String(time?.until))}`,
    // An administrator that is not a superuser must be a member to end its connections.
    `IN ROLE ${quoted.name(user)} ROLE CURRENT_USER`,
  ];
  await calls.query(attempt, `CREATE ROLE ${quoted.name(username)} ${options.join(' ')}`);
  return { username, password };
}

/** Drops a login for a copy with its connections. */
export async function dropCopyLogin(calls: DatabaseCalls, username: string): Promise<void> {
  await dropLogins(calls, [username]);
}

/** Drops every login that was made for copies of a tenant, in use or not. */
export async function dropCopyLogins(calls: DatabaseCalls, user: string): Promise<void> {
  await dropLogins(calls, await loginsOf(calls, user));
}

/** Ends every copy of a tenant in any process, and locks its roles. */
export async function lockCopiesOut(calls: DatabaseCalls, user: string): Promise<void> {
  for (const login of await loginsOf(calls, user)) await lockOut(calls, login);
}

/** What is said of a login that writes: those that only read are left alone. */
const writes = 'writes';

/** Ends the writes of every other copy, and says that this one writes. */
export async function beginWriting(calls: DatabaseCalls, user: string, login: string): Promise<void> {
  const statement = `COMMENT ON ROLE ${quoted.name(login)} IS ${quoted.text(writes)}`;
  await calls.query(`record that ${login} writes`, statement);
  await endWriters(calls, user, login);
}

/**
 * Ends the connections of every other copy of a tenant that writes, and drops its role: what has not taken effect by then never will,
 * because a transaction ends with its connection. Throws `StoreError` while one is still there.
 */
export async function endWriters(calls: DatabaseCalls, user: string, except: string): Promise<void> {
  const condition = `rolname <> ${quoted.text(except)} AND shobj_description(r.oid, 'pg_authid') = ${quoted.text(writes)}`;
  await dropLogins(calls, await find(calls, user, condition));
}

function loginsOf(calls: DatabaseCalls, user: string): Promise<readonly string[]> {
  return find(calls, user, 'true');
}

/** Expired roles without connections. Others may belong to a copy in another process. */
function abandoned(calls: DatabaseCalls, user: string): Promise<readonly string[]> {
  return find(
    calls,
    user,
    'rolvaliduntil < now() AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.usesysid = r.oid)',
  );
}

async function find(calls: DatabaseCalls, user: string, condition: string): Promise<readonly string[]> {
  const found = await calls.query(
    `find the roles for copying ${user}`,
    `SELECT rolname FROM pg_roles r WHERE starts_with(rolname, $1) AND ${condition}`,
    [copyLoginPrefix(user)],
  );
  return found.map(({ rolname }) => String(rolname));
}

async function dropLogins(calls: DatabaseCalls, logins: readonly string[]): Promise<void> {
  for (const login of logins) {
    await lockOut(calls, login);
    await requireNoConnection(calls, login);
    await dropRole(calls, login);
  }
}

/** The server gives an ended connection some time; once its role is gone, nobody would find it anymore. */
async function requireNoConnection(calls: DatabaseCalls, login: string): Promise<void> {
  const statement = 'SELECT count(*)::int AS connections FROM pg_stat_activity WHERE usename = $1';
  const [row] = await calls.query(`check that ${login} has no connection`, statement, [login]);
  if (row?.connections === 0) return;
  const what = `a connection of ${login}, which copied before, has not ended yet`;
  throw new StoreError('Failed', `${what}: wait for it, or end it with pg_terminate_backend`);
}

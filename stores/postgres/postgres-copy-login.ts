import { randomBytes } from 'node:crypto';
import { copyLoginPrefix } from './postgres-copy-names.ts';
import type { DatabaseCalls } from './postgres-database.ts';
import { quoted } from './postgres-connection.ts';
import { lockOut } from './postgres-lock-out.ts';
import { dropRole } from './postgres-role.ts';
import { scramVerifier } from './scram-verifier.ts';

/** How long the password opens anything: it is used at once, and whoever is logged in stays. */
const usable = '5 minutes';

/** One connection, and one that the server has not found to be gone yet. */
const connections = 2;

/** A login that was made for one copy. */
export interface CopyLogin {
  readonly username: string;
  readonly password: string;
}

/**
 * Makes a login that is a member of the tenant's role and nothing else: nobody knows the tenant's password, and code of the
 * tenant that gives up its role finds no more rights behind it. It takes along what copies that were cut off have left.
 */
export async function makeCopyLogin(calls: DatabaseCalls, user: string): Promise<CopyLogin> {
  await dropLogins(calls, await abandoned(calls, user));
  const username = `${copyLoginPrefix(user)}${randomBytes(4).toString('hex')}`;
  const password = randomBytes(24).toString('hex');
  const attempt = `make a login for a copy of ${user}`;
  const [time] = await calls.query(attempt, `SELECT (now() + interval '${usable}')::text AS until`);
  const options = [
    `LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT CONNECTION LIMIT ${connections}`,
    `PASSWORD ${quoted.text(await scramVerifier(password, randomBytes(16)))}`,
    `VALID UNTIL ${quoted.text(String(time?.until))}`,
    // An administrator who is no superuser must be a member, to end its connections.
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

/** Ends every copy of a tenant, whoever runs it, and lets none of its logins in again. */
export async function lockCopiesOut(calls: DatabaseCalls, user: string): Promise<void> {
  for (const login of await loginsOf(calls, user)) await lockOut(calls, login);
}

function loginsOf(calls: DatabaseCalls, user: string): Promise<readonly string[]> {
  return find(calls, user, 'true');
}

/** Those that nobody uses and nobody can use any more. Others may belong to a copy in another process. */
function abandoned(calls: DatabaseCalls, user: string): Promise<readonly string[]> {
  return find(
    calls,
    user,
    'rolvaliduntil < now() AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.usesysid = r.oid)',
  );
}

async function find(calls: DatabaseCalls, user: string, condition: string): Promise<readonly string[]> {
  const found = await calls.query(
    `look for logins for copies of ${user}`,
    `SELECT rolname FROM pg_roles r WHERE starts_with(rolname, $1) AND ${condition}`,
    [copyLoginPrefix(user)],
  );
  return found.map(({ rolname }) => String(rolname));
}

async function dropLogins(calls: DatabaseCalls, logins: readonly string[]): Promise<void> {
  for (const login of logins) {
    await lockOut(calls, login);
    await dropRole(calls, login);
  }
}

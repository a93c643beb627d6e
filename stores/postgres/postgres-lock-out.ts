import { quoted } from './postgres-connection.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import type { DatabaseCalls } from './postgres-database.ts';
import { sqlState } from './postgres-errors.ts';
import { ensureMembership, ensureOwnMembership, readRole } from './postgres-role.ts';

/** Milliseconds for a lock that a connection of the tenant's may have taken again since they were all ended. */
const lockMs = 300;

const rounds = 10;

/**
 * Ends every connection of a role and takes it the login, so that no new one is made. A role may change its own password, and in
 * a transaction that stays open this keeps everybody else from changing the role: its connections are ended first, again and
 * again where it comes back in between.
 */
export async function lockOut(calls: DatabaseCalls, user: string): Promise<void> {
  if ((await readRole(calls, user)) === undefined) return;
  for (let left = rounds; ; left -= 1) {
    await endPreparedBy(calls, user);
    if (await calls.beside((connection) => tryOnce(connection, user, left === 0))) break;
  }
  await endPreparedBy(calls, user);
}

/** False when the role is locked by a connection that has come back meanwhile; at the `last` time throws `StoreError` for it. */
async function tryOnce(connection: PostgresConnection, user: string, last: boolean): Promise<boolean> {
  const attempt = `end the connections of role ${user}`;
  await connection.query(attempt, `SET lock_timeout = ${lockMs}`);
  try {
    await ensureOwnMembership(connection, user);
    await endConnections(connection, user);
    await connection.query(attempt, `ALTER ROLE ${quoted.name(user)} NOLOGIN`);
    await endConnections(connection, user);
    await ensureMembership(connection, user);
    return true;
  } catch (error) {
    if (last || sqlState(error instanceof Error ? error.cause : error) !== '55P03') throw error;
    return false;
  }
}

async function endConnections(connection: PostgresConnection, user: string): Promise<void> {
  await connection.query(
    `end the connections of role ${user}`,
    'SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE usename = $1',
    [user],
  );
}

/** Transactions that were prepared outlive their connections with all their locks; only who prepared them may end them. */
async function endPreparedBy(calls: DatabaseCalls, user: string): Promise<void> {
  const attempt = `roll prepared transactions of role ${user} back`;
  const prepared = await calls.query(attempt, 'SELECT gid, database FROM pg_prepared_xacts WHERE owner = $1', [user]);
  for (const { gid, database } of prepared) {
    await calls.within(String(database), async (connection) => {
      await ensureOwnMembership(connection, user);
      await connection.query(attempt, `SET ROLE ${quoted.name(user)}`);
      await connection.query(attempt, `ROLLBACK PREPARED ${quoted.text(String(gid))}`);
    });
  }
}

import { quoted } from './connection.ts';
import type { PostgresConnection } from './connection.ts';
import type { DatabaseCalls } from './database.ts';
import { sqlState } from './errors.ts';
import { ensureMembership, ensureOwnMembership, readRole } from './grants.ts';

/** Milliseconds to wait for a lock that a new connection of the tenant may hold although all were ended. */
const lockMs = 300;

const rounds = 10;

/**
 * Ends every connection of a role and revokes its LOGIN, so that it cannot connect again. A role may change its own password, which in an
 * open transaction blocks every other change of the role: so its connections are ended first, repeatedly if it reconnects in between.
 */
export async function lockOut(calls: DatabaseCalls, user: string): Promise<void> {
  if ((await readRole(calls, user)) === undefined) return;
  for (let left = rounds; ; left -= 1) {
    await endPreparedBy(calls, user);
    if (await calls.withConnection((connection) => tryOnce(connection, user, left === 0))) break;
  }
  await endPreparedBy(calls, user);
}

/** False when the role is locked by a connection that was opened meanwhile; in the `last` attempt it throws `StoreError` instead. */
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

/** Prepared transactions survive their connections with all their locks; only the role that prepared them may end them. */
async function endPreparedBy(calls: DatabaseCalls, user: string): Promise<void> {
  const attempt = `roll back prepared transactions of role ${user}`;
  const prepared = await calls.query(attempt, 'SELECT gid, database FROM pg_prepared_xacts WHERE owner = $1', [user]);
  for (const { gid, database } of prepared) {
    await calls.within(String(database), async (connection) => {
      await ensureOwnMembership(connection, user);
      await connection.query(attempt, `SET ROLE ${quoted.name(user)}`);
      await connection.query(attempt, `ROLLBACK PREPARED ${quoted.text(String(gid))}`);
    });
  }
}

import type { MysqlConnection } from './mysql-connection.ts';
import { isLockTimeout, MysqlError } from './mysql-errors.ts';

/** Seconds that each lock is waited for. */
const patience = 1;

/**
 * Waits until every transaction is over that has written to a table when this is called: a lock on the whole table is granted
 * only then. A lock to read keeps nobody waiting while it waits itself, so it may never be granted on a table that is written
 * without a pause; a lock to write then is, and holds others up for as long as the oldest statement under way takes. Throws
 * `MysqlError` when a transaction stays open for long.
 */
export async function awaitWriters(connection: MysqlConnection, table: string): Promise<void> {
  await connection.run(`SET SESSION lock_wait_timeout = ${patience}`);
  try {
    if (await held(connection, table, 'READ')) return;
    if (await held(connection, table, 'WRITE')) return;
    await lock(connection, table, 'WRITE');
  } finally {
    await connection.run('SET SESSION lock_wait_timeout = 5');
  }
}

async function held(connection: MysqlConnection, table: string, mode: 'READ' | 'WRITE'): Promise<boolean> {
  try {
    await lock(connection, table, mode);
    return true;
  } catch (error) {
    if (error instanceof MysqlError && isLockTimeout(error)) return false;
    throw error;
  }
}

async function lock(connection: MysqlConnection, table: string, mode: 'READ' | 'WRITE'): Promise<void> {
  await connection.run(`LOCK TABLES ${table} ${mode}`);
  await connection.run('UNLOCK TABLES');
}

import type { MysqlConnection } from '../connection.ts';
import { isLockTimeout, MysqlError } from '../errors.ts';

/** Seconds that each lock is waited for. */
const lockTimeoutSeconds = 1;

/**
 * Waits for the end of every transaction that has written to a table before this call: a lock on the whole table is granted only then. A
 * read lock blocks no statement while it waits, so it may never be granted on a table that is written without a pause; a write lock is then,
 * and blocks others for as long as the oldest running statement takes. Throws `MysqlError` when a transaction stays open for too long.
 */
export async function awaitWriters(connection: MysqlConnection, table: string): Promise<void> {
  await connection.run(`SET SESSION lock_wait_timeout = ${lockTimeoutSeconds}`);
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

import type { MysqlConnection } from './connection.ts';
import { MysqlError } from './errors.ts';

/**
 * Throws `MysqlError` READ_ONLY when the server is a replica, also if it became one after we connected. An administrator could write to a
 * replica nevertheless, which would make it diverge from its source, so this is checked before all work.
 */
export async function requireWritable(connection: MysqlConnection): Promise<void> {
  if (!(await connection.isReadOnly())) return;
  throw new MysqlError('READ_ONLY', undefined, 'the server is a replica and accepts no writes');
}

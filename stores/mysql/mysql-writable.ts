import type { MysqlConnection } from './mysql-connection.ts';
import { MysqlError } from './mysql-errors.ts';

/**
 * Throws `MysqlError` READ_ONLY when the server is a replica, also when it has become one since we connected. An administrator
 * may write to a replica all the same, which would part it from its source: so it is asked before every piece of work.
 */
export async function requireWritable(connection: MysqlConnection): Promise<void> {
  if (!(await connection.isReadOnly())) return;
  throw new MysqlError('READ_ONLY', undefined, 'is a replica, it takes no writes');
}

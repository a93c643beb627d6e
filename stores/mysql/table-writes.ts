import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { table } from './sql.ts';

/**
 * The newest id of kine's table: each write inserts a row. Attempts that the table refused, because another writer was faster, count as
 * soon as kine has filled their gaps with rows. Throws `MysqlError`.
 */
export async function tableWrites(connection: MysqlConnection, schema: string): Promise<number> {
  const [row] = await connection.rows(`SELECT COALESCE(MAX(id), 0) AS writes FROM ${table(schema)}`);
  return Number(textOf(row?.writes));
}

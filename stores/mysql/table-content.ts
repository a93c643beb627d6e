import type { TenancyContent } from '../driver.ts';
import { kineHealthName, kineRoot, kineRootEnd } from '../kine/kine-keys.ts';
import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { table } from './sql.ts';

/** The time limit of the statement, which reads every key, in milliseconds: some hundred thousand take a second. */
const longestMs = 60_000;

/** The live keys in kine's table of a database: the newest row of each name, unless it says that the key is gone. Throws `MysqlError`. */
export async function tableContent(connection: MysqlConnection, schema: string): Promise<TenancyContent> {
  const all = table(schema);
  const statement =
    'SELECT COUNT(*) AS `keys`, COALESCE(SUM(LENGTH(k.name) + COALESCE(LENGTH(k.value), 0)), 0) AS bytes ' +
    `FROM ${all} AS k INNER JOIN ` +
    `(SELECT MAX(id) AS id FROM ${all} WHERE name > ? AND name < ? GROUP BY name) AS newest USING (id) ` +
    'WHERE k.deleted = 0 AND k.name <> ?';
  const [row] = await connection.rows(statement, [kineRoot, kineRootEnd, kineHealthName], longestMs);
  return { keys: Number(textOf(row?.keys)), bytes: Number(textOf(row?.bytes)) };
}

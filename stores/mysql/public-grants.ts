import { StoreError } from '../store-error.ts';
import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';

/**
 * Throws `StoreError` Unauthorized when every account of a server has access to every database: in MariaDB, each has the grants of
 * `PUBLIC`.
 */
export async function refuseOpenServer(connection: MysqlConnection): Promise<void> {
  if (connection.facts.version.flavor !== 'MariaDB') return;
  const statement =
    "SELECT 1 FROM mysql.global_priv WHERE User = 'PUBLIC' AND Host = '' AND JSON_VALUE(Priv, '$.access') > 0";
  if ((await connection.run(statement)).length === 0) return;
  const text =
    'a grant ON *.* TO PUBLIC opens every database to every tenant: REVOKE ALL PRIVILEGES, GRANT OPTION FROM PUBLIC';
  throw new StoreError('Unauthorized', `${connection.endpoint}: ${text}`);
}

/**
 * Throws `StoreError` Unauthorized when every account has access to a database of this name: by a grant to `PUBLIC`, or by one to the
 * anonymous account, which applies to all. Older installations have such a grant for `test` and `test_…`.
 */
export async function refuseOpenSchema(connection: MysqlConnection, schema: string): Promise<void> {
  await refuseOpenServer(connection);
  // The column holds patterns of LIKE.
  const statement = "SELECT Db AS pattern FROM mysql.db WHERE User IN ('', 'PUBLIC') AND ? LIKE Db";
  const [row] = await connection.rows(statement, [schema]);
  if (row === undefined) return;
  const help = 'remove that row from mysql.db and run FLUSH PRIVILEGES, or choose another name';
  const text = `every account has access to database ${schema} by a grant on ${JSON.stringify(textOf(row.pattern))}: ${help}`;
  throw new StoreError('Unauthorized', `${connection.endpoint}: ${text}`);
}

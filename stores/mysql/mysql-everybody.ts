import { StoreError } from '../store-error.ts';
import { textOf } from './mysql-connection.ts';
import type { MysqlConnection } from './mysql-connection.ts';

/**
 * Throws `StoreError` Unauthorized when every account of a server reaches every database: MariaDB gives each what `PUBLIC` has.
 */
export async function refuseOpenServer(connection: MysqlConnection): Promise<void> {
  if (connection.facts.version.flavour !== 'MariaDB') return;
  const statement =
    "SELECT 1 FROM mysql.global_priv WHERE User = 'PUBLIC' AND Host = '' AND JSON_VALUE(Priv, '$.access') > 0";
  if ((await connection.run(statement)).length === 0) return;
  const text =
    'a grant ON *.* TO PUBLIC lets every tenant into every database: REVOKE ALL PRIVILEGES, GRANT OPTION FROM PUBLIC';
  throw new StoreError('Unauthorized', `${connection.endpoint}: ${text}`);
}

/**
 * Throws `StoreError` Unauthorized when every account reaches a database of this name: by a grant to `PUBLIC`, or by one to the
 * account without a name, which servers take for everybody. Older installations have such a one for `test` and `test_…`.
 */
export async function refuseOpenSchema(connection: MysqlConnection, schema: string): Promise<void> {
  await refuseOpenServer(connection);
  // The column holds patterns of LIKE.
  const statement = "SELECT Db AS pattern FROM mysql.db WHERE User IN ('', 'PUBLIC') AND ? LIKE Db";
  const [row] = await connection.rows(statement, [schema]);
  if (row === undefined) return;
  const help = 'remove that row of mysql.db and FLUSH PRIVILEGES, or choose another name';
  const text = `every account reaches database ${schema} by a grant on ${JSON.stringify(textOf(row.pattern))}: ${help}`;
  throw new StoreError('Unauthorized', `${connection.endpoint}: ${text}`);
}

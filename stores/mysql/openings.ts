import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { isAbsent, MysqlError } from './errors.ts';
import { ownershipSchema } from './names.ts';
import { identifier } from './sql.ts';

const records = `${identifier(ownershipSchema)}.${identifier('tenancies')}`;

/** A pattern with an underscore that is not escaped: a tool took it for a letter. */
const hasLooseUnderscore = String.raw`REPLACE(d.Db, '\\_', '') LIKE '%\\_%'`;

/**
 * Grants on databases that open the database of a tenancy to an account that is not its own: to that of another tenancy, to every account, or
 * to any account whose grant has an underscore that was not escaped and is a wildcard therefore. What an administrator granted on all
 * databases on purpose, for example to an account for backups, is not among them.
 */
export async function openSchemas(connection: MysqlConnection): Promise<readonly string[]> {
  const matches = (await takesPatterns(connection)) ? 't.schema_name LIKE d.Db' : 't.schema_name = d.Db';
  const statement =
    `SELECT t.schema_name AS name, d.User AS account, d.Db AS pattern FROM mysql.db d JOIN ${records} t ` +
    `ON ${matches} AND t.user_name <> d.User ` +
    `WHERE d.User IN ('', 'PUBLIC') OR d.User IN (SELECT user_name FROM ${records}) OR ${hasLooseUnderscore} ` +
    'ORDER BY t.schema_name LIMIT 1';
  try {
    const rows = await connection.rows(statement);
    return rows.map(({ name, account, pattern }) => {
      const grant = JSON.stringify(textOf(pattern));
      return `use of database ${textOf(name)} of a tenant by account ${JSON.stringify(textOf(account))}, because of a grant on ${grant}`;
    });
  } catch (error) {
    // Without records there are no tenancies.
    if (error instanceof MysqlError && isAbsent(error)) return [];
    throw error;
  }
}

/** With partial_revokes, MySQL takes names in grants as they are. */
async function takesPatterns(connection: MysqlConnection): Promise<boolean> {
  const [row] = await connection.run("SHOW VARIABLES LIKE 'partial_revokes'");
  return row === undefined || !/^(?:on|1)$/i.test(textOf(Object.values(row)[1]));
}

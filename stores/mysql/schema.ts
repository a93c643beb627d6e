import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { createDatabase, createKineTable, identifier, kineTable, modernizeKineTable } from './sql.ts';

/** The timeout for dropping a database with its files and for converting a table, which copies it. */
const slowStatementMs = 120_000;

/** True when both names mean the same database. Queries of the catalog ignore case even where names differ by case. */
export function isSameSchema({ facts }: MysqlConnection, left: string, right: string): boolean {
  return facts.foldsNames ? left.toLowerCase() === right.toLowerCase() : left === right;
}

/** True when there is a database of this name. */
export async function hasSchema(connection: MysqlConnection, schema: string): Promise<boolean> {
  const statement = 'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?';
  const rows = await connection.rows(statement, [schema]);
  return rows.some((row) => isSameSchema(connection, textOf(row.name), schema));
}

/**
 * Creates database and table where they are missing. A table that kine created itself, in an adopted tenancy, is converted to keys that are
 * compared by bytes and to 64-bit revisions.
 */
export async function ensureSchema(connection: MysqlConnection, schema: string): Promise<void> {
  if (!(await hasSchema(connection, schema))) await connection.run(createDatabase(schema));
  const types = await columnTypes(connection, schema);
  if (types.size === 0) await connection.run(createKineTable(schema));
  else if (!types.get('name')?.startsWith('varbinary') || !types.get('id')?.startsWith('bigint')) {
    await connection.run(modernizeKineTable(schema), slowStatementMs);
  }
}

/** Drops a database with all that is in it, if it is there. */
export async function dropSchema(connection: MysqlConnection, schema: string): Promise<void> {
  await connection.run(`DROP DATABASE IF EXISTS ${identifier(schema)}`, slowStatementMs);
}

/** The types of the columns of kine's table, by name in lower case; none when there is no table. */
async function columnTypes(connection: MysqlConnection, schema: string): Promise<ReadonlyMap<string, string>> {
  const statement =
    'SELECT TABLE_SCHEMA AS name, COLUMN_NAME AS col, COLUMN_TYPE AS type FROM information_schema.COLUMNS ' +
    'WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?';
  const rows = (await connection.rows(statement, [schema, kineTable])).filter((row) =>
    isSameSchema(connection, textOf(row.name), schema),
  );
  return new Map(rows.map((row) => [textOf(row.col).toLowerCase(), textOf(row.type).toLowerCase()]));
}

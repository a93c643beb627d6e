import { textOf } from './mysql-connection.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import { createDatabase, createKineTable, identifier, kineTable, modernizeKineTable } from './mysql-sql.ts';

/** Files of a database are removed, and a table of another make is copied: longer than a statement should take. */
const slowStatementMs = 120_000;

/** True when names mean one database on this server. Its catalogue compares without regard to case even where it has two. */
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
 * Makes database and table, and leaves alone what is there. A table that kine made by itself, for a tenancy that is taken over,
 * gets keys that are compared by bytes and revisions of 64 bits.
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

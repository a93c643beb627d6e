import { StoreError } from '../store-error.ts';
import { textOf } from './mysql-connection.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import { isSameSchema } from './mysql-schema.ts';
import { identifier, kineTable, table } from './mysql-sql.ts';

/** As many are named; an author can make thousands. */
const named = 5;

/** What can run statements of its author's, or stand for a table and be another; by name, for nothing of it may be opened. */
const questions = [
  "SELECT TABLE_SCHEMA AS home, TABLE_NAME AS name, TABLE_TYPE AS kind FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE <> 'BASE TABLE'",
  'SELECT ROUTINE_SCHEMA AS home, ROUTINE_NAME AS name, ROUTINE_TYPE AS kind FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?',
  "SELECT TRIGGER_SCHEMA AS home, TRIGGER_NAME AS name, 'TRIGGER' AS kind FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ?",
  "SELECT EVENT_SCHEMA AS home, EVENT_NAME AS name, 'EVENT' AS kind FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ?",
] as const;

/**
 * Throws `StoreError` Failed, before any statement of an administrator touches its table, for a database that holds anything but
 * plain tables. Accounts that the Go Steward made may do everything in their database: a view `kine` over a function with
 * `SQL SECURITY INVOKER` would read other tenants' data with the rights of whoever reads the view, and a copy would hold them
 * (https://mariadb.com/kb/en/stored-routine-privileges/). No such thing can be in a table's own expressions, for servers take
 * no stored functions there. Succeeds when there is no such database.
 */
export async function refuseForeignObjects(connection: MysqlConnection, schema: string): Promise<void> {
  const objects: string[] = [];
  for (const question of questions) {
    for (const row of await connection.rows(question, [schema])) {
      if (!isSameSchema(connection, textOf(row.home), schema)) continue;
      objects.push(`${textOf(row.kind).toLowerCase()} ${JSON.stringify(textOf(row.name))}`);
    }
  }
  const engine = objects.length === 0 ? await engineOf(connection, schema) : undefined;
  if (engine !== undefined && engine !== 'innodb') {
    const help = `ALTER TABLE ${table(schema)} ENGINE=InnoDB`;
    const text = `table ${kineTable} of database ${schema} is kept by ${JSON.stringify(engine)}, which may read elsewhere`;
    throw new StoreError('Failed', `${connection.endpoint}: ${text}: ${help}`);
  }
  if (objects.length === 0) return;
  const more = objects.length > named ? ` and ${objects.length - named} more` : '';
  const list = `${objects.slice(0, named).join(', ')}${more}`;
  const text = `database ${schema} holds ${list}, which could act with the rights of the DataStore's account`;
  const help = `a tenant's database holds tables alone: look at what they do, then DROP them from ${identifier(schema)}`;
  throw new StoreError('Failed', `${connection.endpoint}: ${text}: ${help}`);
}

/** What keeps the rows of kine's table, in lower case; undefined when there is no such table. */
async function engineOf(connection: MysqlConnection, schema: string): Promise<string | undefined> {
  const statement =
    'SELECT TABLE_SCHEMA AS home, ENGINE AS engine FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?';
  const rows = await connection.rows(statement, [schema, kineTable]);
  const own = rows.find((row) => isSameSchema(connection, textOf(row.home), schema));
  return own === undefined ? undefined : textOf(own.engine).toLowerCase();
}

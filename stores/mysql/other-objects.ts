import { StoreError } from '../store-error.ts';
import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { isSameSchema } from './schema.ts';
import { identifier, kineTable, table } from './sql.ts';

/** How many objects a message names; there could be thousands. */
const named = 5;

/** Finds objects that can run their author's statements or can replace a table, without opening any of them. */
const questions = [
  "SELECT TABLE_SCHEMA AS home, TABLE_NAME AS name, TABLE_TYPE AS kind FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE <> 'BASE TABLE'",
  'SELECT ROUTINE_SCHEMA AS home, ROUTINE_NAME AS name, ROUTINE_TYPE AS kind FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?',
  "SELECT TRIGGER_SCHEMA AS home, TRIGGER_NAME AS name, 'TRIGGER' AS kind FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ?",
  "SELECT EVENT_SCHEMA AS home, EVENT_NAME AS name, 'EVENT' AS kind FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ?",
] as const;

/**
 * Throws `StoreError` Failed for a database that contains anything but plain tables, before an administrator's statement touches its table.
 * Accounts of the Go Steward may do everything in their database: a view `kine` over a function with `SQL SECURITY INVOKER` would read
 * other tenants' data with the privileges of its reader, and a copy would contain that data
 * (https://mariadb.com/kb/en/stored-routine-privileges/). Expressions of a table itself are harmless, because servers allow no stored
 * functions there. Succeeds when there is no such database.
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
    const text = `table ${kineTable} of database ${schema} uses engine ${JSON.stringify(engine)}, which may read elsewhere`;
    throw new StoreError('Failed', `${connection.endpoint}: ${text}: ${help}`);
  }
  if (objects.length === 0) return;
  const more = objects.length > named ? ` and ${objects.length - named} more` : '';
  const list = `${objects.slice(0, named).join(', ')}${more}`;
  const text = `database ${schema} contains ${list}, which could act with the privileges of the DataStore's account`;
  const help = `a tenant's database may contain only tables: check what they do, then DROP them from ${identifier(schema)}`;
  throw new StoreError('Failed', `${connection.endpoint}: ${text}: ${help}`);
}

/** The storage engine of kine's table, in lower case; undefined when there is no such table. */
async function engineOf(connection: MysqlConnection, schema: string): Promise<string | undefined> {
  const statement =
    'SELECT TABLE_SCHEMA AS home, ENGINE AS engine FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?';
  const rows = await connection.rows(statement, [schema, kineTable]);
  const own = rows.find((row) => isSameSchema(connection, textOf(row.home), schema));
  return own === undefined ? undefined : textOf(own.engine).toLowerCase();
}

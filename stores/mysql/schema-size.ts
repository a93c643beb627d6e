import { textOf } from './connection.ts';
import type { MysqlConnection } from './connection.ts';
import { isSameSchema } from './schema.ts';
import { kineTable } from './sql.ts';

/**
 * Bytes of a tenant's table with its indexes, in its only database: the size of its file, which is exact at any time. Where tables have no
 * files of their own (`innodb_file_per_table = OFF`), what the server's statistics say. Undefined when there is no table. Throws
 * `MysqlError`.
 */
export async function schemaSize(connection: MysqlConnection, schema: string): Promise<number | undefined> {
  return (await fileSize(connection, schema)) ?? (await estimatedSize(connection, schema));
}

async function fileSize(connection: MysqlConnection, schema: string): Promise<number | undefined> {
  const isMariaDb = connection.facts.version.flavor === 'MariaDB';
  const spaces = isMariaDb ? 'INNODB_SYS_TABLESPACES' : 'INNODB_TABLESPACES';
  const statement = `SELECT NAME AS name, FILE_SIZE AS bytes FROM information_schema.${spaces} WHERE NAME IN (?, ?)`;
  const names = [`${schema}/${kineTable}`, `${encodedName(schema)}/${kineTable}`];
  const rows = await connection.rows(statement, names);
  // The comparison of the server may ignore case.
  const own = rows.filter(({ name }) => names.some((wanted) => isSameSchema(connection, textOf(name), wanted)));
  return own.length === 0 ? undefined : own.reduce((sum, { bytes }) => sum + Number(textOf(bytes)), 0);
}

/** The size in pages that the server counted when it last sampled the table. */
async function estimatedSize(connection: MysqlConnection, schema: string): Promise<number | undefined> {
  const statement =
    'SELECT TABLE_SCHEMA AS name, DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES ' +
    'WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?';
  const rows = await connection.rows(statement, [schema, kineTable]);
  const own = rows.find(({ name }) => isSameSchema(connection, textOf(name), schema));
  return own === undefined ? undefined : Number(textOf(own.bytes));
}

/**
 * A name as the server spells it in names of files: every character but letters, digits and `_` as its code
 * (https://dev.mysql.com/doc/refman/8.4/en/identifier-mapping.html).
 */
export function encodedName(name: string): string {
  return name.replaceAll(/[^0-9A-Za-z_]/g, (sign) => `@${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

import type { Tenancy } from '../driver.ts';
import { textOf } from './connection.ts';
import type { MysqlConnection, Row } from './connection.ts';
import { isAbsent, isDuplicate, MysqlError } from './errors.ts';
import { forgetWriter } from './data/table-writer.ts';
import { ownershipSchema } from './names.ts';
import { createDatabase, identifier } from './sql.ts';

/** What is recorded of an owner's own tenancy. */
export interface OwnRecord {
  readonly is: 'own';
  /** True while the tenant may only read. */
  readonly fenced: boolean;
  /** Whether its account has to encrypt: from now on, from a later time on, or nothing is planned. */
  readonly encryption: 'due' | 'planned' | 'unplanned';
}

/** What the store has recorded about the names of a tenancy. */
export type Ownership = OwnRecord | { readonly is: 'unrecorded' } | { readonly is: 'foreign'; readonly owner: string };

const records = `${identifier(ownershipSchema)}.${identifier('tenancies')}`;

/** Both names are unique keys, so that one of two concurrent owners fails. Binary columns, so that similar names do not collide. */
const createRecords =
  `CREATE TABLE IF NOT EXISTS ${records} (` +
  'schema_key VARBINARY(64) NOT NULL PRIMARY KEY, user_name VARBINARY(64) NOT NULL UNIQUE, ' +
  'schema_name VARBINARY(64) NOT NULL, owner VARBINARY(255) NOT NULL, ' +
  'fenced BOOLEAN NOT NULL DEFAULT FALSE, encrypted_from DATETIME) ENGINE=InnoDB';

/** The server's name of a schema: for a server that folds names, `Team` and `team` are the same. */
export function schemaKey(connection: MysqlConnection, schema: string): string {
  return connection.facts.foldsNames ? schema.toLowerCase() : schema;
}

/** Returns `otherwise` when the table of records does not exist. */
async function ifRecorded<T>(asking: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof MysqlError && isAbsent(error)) return otherwise;
    throw error;
  }
}

/** Who owns the names. A name that is recorded in another combination is foreign, even for the same owner. */
export async function readOwnership(connection: MysqlConnection, tenancy: Tenancy): Promise<Ownership> {
  const { schema, user, owner } = tenancy;
  const columns = 'schema_name, user_name, owner, fenced, encrypted_from <= UTC_TIMESTAMP() AS encrypts';
  const statement = `SELECT ${columns} FROM ${records} WHERE schema_key = ? OR user_name = ?`;
  const asking = connection.rows(statement, [schemaKey(connection, schema), user]);
  const rows = await ifRecorded<readonly Row[]>(asking, []);
  if (rows.length === 0) return { is: 'unrecorded' };
  const other = rows.find(
    (row) => textOf(row.owner) !== owner || textOf(row.schema_name) !== schema || textOf(row.user_name) !== user,
  );
  if (other !== undefined) return { is: 'foreign', owner: textOf(other.owner) };
  const [own] = rows;
  const encrypts = textOf(own?.encrypts);
  return {
    is: 'own',
    fenced: textOf(own?.fenced) !== '0',
    encryption: encrypts === '' ? 'unplanned' : encrypts === '0' ? 'planned' : 'due',
  };
}

/** Records both names as this owner's in one statement, unless one of them is recorded already. */
export async function recordOwnership(connection: MysqlConnection, tenancy: Tenancy): Promise<void> {
  const { schema, user, owner } = tenancy;
  const insert = `INSERT INTO ${records} (schema_key, user_name, schema_name, owner) VALUES (?, ?, ?, ?)`;
  try {
    await connection.change(insert, [schemaKey(connection, schema), user, schema, owner]);
  } catch (error) {
    if (!(error instanceof MysqlError)) throw error;
    if (isDuplicate(error)) return;
    if (!isAbsent(error)) throw error;
    await connection.run(createDatabase(ownershipSchema));
    await connection.run(createRecords);
    await recordOwnership(connection, tenancy);
  }
}

/** Remembers whether the tenant's writes are fenced, so that healing its grants does not give them back. */
export async function recordFence(connection: MysqlConnection, { schema, owner }: Tenancy, on: boolean): Promise<void> {
  const statement = `UPDATE ${records} SET fenced = ? WHERE schema_key = ? AND owner = ?`;
  await connection.change(statement, [on ? 1 : 0, schemaKey(connection, schema), owner]);
}

/** Remembers from when on the account has to encrypt; undefined when it need not. */
export async function recordEncryption(
  connection: MysqlConnection,
  { schema, owner }: Tenancy,
  inSeconds: number | undefined,
): Promise<void> {
  const from = inSeconds === undefined ? 'NULL' : `UTC_TIMESTAMP() + INTERVAL ${inSeconds} SECOND`;
  const statement = `UPDATE ${records} SET encrypted_from = ${from} WHERE schema_key = ? AND owner = ?`;
  await connection.change(statement, [schemaKey(connection, schema), owner]);
}

/** Forgets the owner of both names, and who wrote to the schema last. */
export async function releaseOwnership(connection: MysqlConnection, { schema, owner }: Tenancy): Promise<void> {
  await forgetWriter(connection, schemaKey(connection, schema));
  const statement = `DELETE FROM ${records} WHERE schema_key = ? AND owner = ?`;
  await ifRecorded(connection.change(statement, [schemaKey(connection, schema), owner]), 0);
}

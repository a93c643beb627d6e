import { randomUUID } from 'node:crypto';
import { endedWritesError } from '../../ended-writes-error.ts';
import type { MysqlConnection } from '../connection.ts';
import { isAbsent, MysqlError } from '../errors.ts';
import { ownershipSchema } from '../names.ts';
import { identifier } from '../sql.ts';

const writers = `${identifier(ownershipSchema)}.${identifier('writers')}`;

const createWriters =
  `CREATE TABLE IF NOT EXISTS ${writers} (` +
  'schema_key VARBINARY(64) NOT NULL PRIMARY KEY, token VARBINARY(64) NOT NULL, ' +
  'batches BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB';

/** Returns `otherwise` when the table does not exist. */
async function ifThere<T, U>(asking: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof MysqlError && isAbsent(error)) return otherwise;
    throw error;
  }
}

/** Ends the writes of every connection to a schema; one whose transaction has changed its row already is waited for. */
export async function forgetWriter(connection: MysqlConnection, schemaKey: string): Promise<void> {
  await ifThere(connection.change(`DELETE FROM ${writers} WHERE schema_key = ?`, [schemaKey]), 0);
}

/**
 * One connection that writes to a schema. A row, out of every tenant's reach, has the token of the last one that began. Every transaction
 * changes the row with its token: so those of earlier ones fail, whenever they arrive, and those under way come before the end. A change
 * is seen by all servers of a cluster, which locks are not.
 */
export class TableWriter {
  readonly #connection: MysqlConnection;
  readonly #schemaKey: string;
  #token: string | undefined;

  constructor(connection: MysqlConnection, schemaKey: string) {
    this.#connection = connection;
    this.#schemaKey = schemaKey;
  }

  async begin(): Promise<void> {
    // Nobody writes with a token whose begin was not answered.
    const token = randomUUID();
    if ((await ifThere(this.#record(token), 'absent')) === 'absent') {
      await this.#connection.run(createWriters);
      await this.#record(token);
    }
    this.#token = token;
  }

  /** In the transaction of a batch: throws when the writes of this connection were ended. */
  async check(): Promise<void> {
    if (this.#token === undefined) return;
    const update = `UPDATE ${writers} SET batches = batches + 1 WHERE schema_key = ? AND token = ?`;
    const changed = await ifThere(this.#connection.change(update, [this.#schemaKey, this.#token]), 0);
    if (changed !== 1) throw endedWritesError(`database ${this.#schemaKey}`);
  }

  async end(): Promise<void> {
    await forgetWriter(this.#connection, this.#schemaKey);
    this.#token = undefined;
  }

  #record(token: string): Promise<number> {
    const replace = `REPLACE INTO ${writers} (schema_key, token) VALUES (?, ?)`;
    return this.#connection.change(replace, [this.#schemaKey, token]);
  }
}

import type { Tenancy } from '../../driver.ts';
import { kineHealthName, kineRoot, kineRootEnd, uncopiedNames } from '../../kine/kine-keys.ts';
import type { KineHead, KineRow } from '../../kine/kine-row.ts';
import type { KineTable, KineWriter } from '../../kine/kine-table.ts';
import { StoreError } from '../../store-error.ts';
import { setFence } from '../account.ts';
import type { MysqlConnection, Row, Value } from '../connection.ts';
import { mysqlError, translated } from '../errors.ts';
import { recordFence, schemaKey } from '../ownership.ts';
import { headColumns, headOf, numberOf, positionOf, rowColumns, rowOf } from './rows.ts';
import { ensureSchema } from '../schema.ts';
import { requireWritable } from '../writable.ts';
import { MysqlWriter } from './writer.ts';
import { TableWriter } from './table-writer.ts';
import { table } from '../sql.ts';
import { awaitWriters } from './writers.ts';

/** The time limit of the one statement that reads every key, in milliseconds: some hundred thousand take a second. */
const countMs = 60_000;

/**
 * kine's table in MySQL or MariaDB, over a dedicated connection of the administrator: a tenant can only write rows there, and
 * cannot replace its table by something else. Statements contain revisions as digits: as the text of a placeholder, the server
 * would compare them as floating-point numbers.
 */
export class MysqlTable implements KineTable {
  readonly #connection: MysqlConnection;
  readonly #tenancy: Tenancy;
  readonly #table: string;
  readonly #writer: TableWriter;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: MysqlConnection, tenancy: Tenancy) {
    this.#connection = connection;
    this.#tenancy = tenancy;
    this.#table = table(tenancy.schema);
    this.#writer = new TableWriter(connection, schemaKey(connection, tenancy.schema));
  }

  async create(): Promise<void> {
    await this.#do('create the table', (connection) => ensureSchema(connection, this.#tenancy.schema));
  }

  async position(): Promise<{ readonly last: bigint; readonly compacted: bigint }> {
    return this.#do('read the revision', (connection) => positionOf(connection, this.#table));
  }

  async settle(): Promise<void> {
    await this.#do('wait for pending writes', (connection) => awaitWriters(connection, this.#table));
  }

  async count(): Promise<number> {
    const apart = uncopiedNames.map((prefix) => ` AND LEFT(k.name, ${prefix.length}) <> ?`).join('');
    const statement =
      `SELECT COUNT(*) AS count FROM ${this.#table} AS k INNER JOIN ` +
      `(SELECT MAX(id) AS id FROM ${this.#table} WHERE name > ? AND name < ? GROUP BY name) AS newest USING (id) ` +
      `WHERE k.deleted = 0 AND k.name <> ?${apart}`;
    const values = [kineRoot, kineRootEnd, kineHealthName, ...uncopiedNames];
    const [row] = await this.#do('count the keys', (connection) => connection.rows(statement, values, countMs));
    return Number(numberOf(row?.count));
  }

  async newest(revision: bigint, after: string, limit: number): Promise<readonly KineHead[]> {
    const newest =
      `SELECT MAX(id) AS id FROM ${this.#table} WHERE name > ? AND name < ? AND id <= ${revision} ` +
      `GROUP BY name ORDER BY name LIMIT ${limit}`;
    const statement = `SELECT ${headColumns} FROM ${this.#table} AS k INNER JOIN (${newest}) AS newest USING (id) ORDER BY k.name`;
    const from = after > kineRoot ? after : kineRoot;
    return (await this.#rows('read the keys', statement, [from, kineRootEnd])).map(headOf);
  }

  async following(after: bigint, limit: number, through?: bigint): Promise<readonly KineHead[]> {
    const until = through === undefined ? '' : ` AND k.id <= ${through}`;
    const statement = `SELECT ${headColumns} FROM ${this.#table} AS k WHERE k.id > ${after}${until} ORDER BY k.id LIMIT ${limit}`;
    return (await this.#do('read the changes', (connection) => connection.run(statement))).map(headOf);
  }

  async read(ids: readonly bigint[]): Promise<readonly KineRow[]> {
    if (ids.length === 0) return [];
    const statement = `SELECT ${rowColumns} FROM ${this.#table} AS k WHERE k.id IN (${ids.join(', ')})`;
    return (await this.#do('read values', (connection) => connection.run(statement))).map(rowOf);
  }

  async beginWrites(): Promise<void> {
    await this.#do('begin to write', async (connection) => {
      await requireWritable(connection);
      await this.#writer.begin();
    });
  }

  async endWrites(): Promise<void> {
    await this.#do('end all writes', async (connection) => {
      await requireWritable(connection);
      await this.#writer.end();
    });
  }

  async writing<T>(work: (writer: KineWriter) => Promise<T>): Promise<T> {
    return this.#do('write the keys', async (connection) => {
      await requireWritable(connection);
      await connection.run('START TRANSACTION');
      try {
        await this.#writer.check();
        const result = await work(new MysqlWriter(connection, this.#table));
        await connection.run('COMMIT');
        return result;
      } catch (error) {
        // What cannot be rolled back is rolled back by the server with the end of the connection.
        await connection.run('ROLLBACK').catch(() => {
          connection.destroy();
        });
        throw error;
      }
    });
  }

  async fence(): Promise<void> {
    await this.#do('block the writes', async (connection) => {
      await requireWritable(connection);
      // The fence is recorded first, so that `ensure` does not grant the writes again.
      await recordFence(connection, this.#tenancy, true);
      await setFence(connection, { ...this.#tenancy, fenced: true });
      await awaitWriters(connection, this.#table);
    });
  }

  async unfence(): Promise<void> {
    await this.#do('unblock the writes', async (connection) => {
      await requireWritable(connection);
      await recordFence(connection, this.#tenancy, false);
      await setFence(connection, { ...this.#tenancy, fenced: false });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  async #rows(attempt: string, statement: string, values: readonly Value[]): Promise<readonly Row[]> {
    return this.#do(attempt, (connection) => connection.rows(statement, values));
  }

  /** Runs calls one after the other: a lock or a transaction must not contain statements of another call. */
  async #do<T>(attempt: string, work: (connection: MysqlConnection) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => work(this.#connection));
    // The next call waits for the end of this one, whatever its result; the caller of this one gets the error below.
    this.#last = done.catch(() => undefined);
    try {
      return await done;
    } catch (thrown) {
      if (thrown instanceof StoreError) throw thrown;
      const { endpoint } = this.#connection;
      throw translated(`${attempt} of ${this.#tenancy.schema}`, { endpoint, error: mysqlError(thrown) });
    }
  }
}

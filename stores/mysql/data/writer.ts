import { compactionName, gapName } from '../../kine/kine-keys.ts';
import type { KineRow, NewKineRow } from '../../kine/kine-row.ts';
import type { KineWriter } from '../../kine/kine-table.ts';
import type { MysqlConnection, Value } from '../connection.ts';
import { positionOf, rowColumns, rowOf } from './rows.ts';

/** Rows of one INSERT: few shapes of statement, and far below the 65535 placeholders that a statement takes. */
const longestInsert = 100;

/** The transaction that a connection is in. All methods throw `MysqlError`. */
export class MysqlWriter implements KineWriter {
  readonly #connection: MysqlConnection;
  readonly #table: string;

  /** `table` is quoted. */
  constructor(connection: MysqlConnection, table: string) {
    this.#connection = connection;
    this.#table = table;
  }

  async latest(names: readonly string[]): Promise<readonly KineRow[]> {
    if (names.length === 0) return [];
    const newest = `SELECT MAX(id) AS id FROM ${this.#table} WHERE name IN (${placeholders(names.length)}) GROUP BY name`;
    const statement = `SELECT ${rowColumns} FROM ${this.#table} AS k INNER JOIN (${newest}) AS newest USING (id)`;
    return (await this.#connection.rows(statement, names)).map(rowOf);
  }

  async insert(rows: readonly NewKineRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += longestInsert) {
      const some = rows.slice(from, from + longestInsert);
      const columns = '(name, created, deleted, create_revision, prev_revision, lease, value, old_value)';
      const values = some.map(() => `(${placeholders(8)})`).join(', ');
      await this.#connection.change(`INSERT INTO ${this.#table} ${columns} VALUES ${values}`, some.flatMap(valuesOf));
    }
  }

  async raise(revision: bigint): Promise<bigint> {
    const { last } = await positionOf(this.#connection, this.#table);
    if (last >= revision) return last;
    const columns = '(id, name, created, deleted, create_revision, prev_revision, lease)';
    const fill = `INSERT INTO ${this.#table} ${columns} VALUES (?, ?, 0, 1, 0, 0, 0)`;
    await this.#connection.change(fill, [revision, gapName(revision)]);
    await this.#compactedUpTo(revision);
    return (await positionOf(this.#connection, this.#table)).last;
  }

  async #compactedUpTo(revision: bigint): Promise<void> {
    const update = `UPDATE ${this.#table} SET prev_revision = ? WHERE name = ?`;
    if ((await this.#connection.change(update, [revision, compactionName])) > 0) return;
    // kine has not run here yet: it makes this row when it starts.
    const columns = '(name, created, deleted, create_revision, prev_revision, lease, value)';
    const insert = `INSERT INTO ${this.#table} ${columns} VALUES (?, 1, 0, 0, ?, 0, '')`;
    await this.#connection.change(insert, [compactionName, revision]);
  }
}

function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}

function valuesOf(row: NewKineRow): readonly Value[] {
  return [
    row.name,
    row.created ? 1 : 0,
    row.deleted ? 1 : 0,
    row.createRevision,
    row.prevRevision,
    row.lease,
    row.value && Buffer.from(row.value),
    row.oldValue && Buffer.from(row.oldValue),
  ];
}

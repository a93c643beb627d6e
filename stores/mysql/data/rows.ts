import { compactionName } from '../../kine/kine-keys.ts';
import type { KineHead, KineRow } from '../../kine/kine-row.ts';
import { textOf } from '../connection.ts';
import type { MysqlConnection, Row } from '../connection.ts';

/** Columns for `headOf`, of a table called `k`. */
export const headColumns = 'k.id, k.name, k.deleted, COALESCE(LENGTH(k.value), 0) AS bytes';

/** Columns for `rowOf`, of a table called `k`. */
export const rowColumns = 'k.id, k.name, k.created, k.deleted, k.create_revision, k.lease, k.value';

/** A whole number of any column; 0 for NULL. */
export function numberOf(value: unknown): bigint {
  return BigInt(textOf(value) || '0');
}

/** A row of `headColumns`. */
export function headOf(row: Row): KineHead {
  return {
    id: numberOf(row.id),
    name: textOf(row.name),
    deleted: numberOf(row.deleted) !== 0n,
    bytes: Number(textOf(row.bytes)),
  };
}

/** A row of `rowColumns`. */
export function rowOf(row: Row): KineRow {
  return {
    id: numberOf(row.id),
    name: textOf(row.name),
    created: numberOf(row.created) !== 0n,
    deleted: numberOf(row.deleted) !== 0n,
    createRevision: numberOf(row.create_revision),
    lease: Number(numberOf(row.lease)),
    value: Buffer.isBuffer(row.value) ? row.value : Buffer.alloc(0),
  };
}

/** The highest id of a table, and up to which one kine has compacted; 0 where there is none. Throws `MysqlError`. */
export async function positionOf(
  connection: MysqlConnection,
  table: string,
): Promise<{ readonly last: bigint; readonly compacted: bigint }> {
  const compacted = `SELECT MAX(prev_revision) FROM ${table} WHERE name = ?`;
  const statement = `SELECT MAX(id) AS last, (${compacted}) AS compacted FROM ${table}`;
  const [row] = await connection.rows(statement, [compactionName]);
  return { last: numberOf(row?.last), compacted: numberOf(row?.compacted) };
}

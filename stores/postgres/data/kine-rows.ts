import type { KineHead, KineRow, NewKineRow } from '../../kine/kine-row.ts';
import type { Row } from '../connection.ts';

/** New rows as `kineSql.insert` takes them: a list for each column. */
export function columnsOf(rows: readonly NewKineRow[]): readonly unknown[] {
  return [
    rows.map(({ name }) => name),
    rows.map(({ created }) => Number(created)),
    rows.map(({ deleted }) => Number(deleted)),
    rows.map(({ createRevision }) => createRevision),
    rows.map(({ prevRevision }) => prevRevision),
    rows.map(({ lease }) => lease),
    rows.map(({ value }) => value),
    rows.map(({ oldValue }) => oldValue),
  ];
}

/** A bigint of the server's, which the library leaves as text. */
export function integer(value: unknown): bigint {
  return BigInt(String(value));
}

/** A row of `kineSql.newest` or `kineSql.following`. */
export function headOf({ id, name, deleted, bytes }: Row): KineHead {
  return { id: integer(id), name: String(name), deleted: deleted !== 0, bytes: Number(bytes) };
}

/** A row of `kineSql.read` or `kineSql.latest`. */
export function rowOf({ id, name, created, deleted, create_revision: createRevision, lease, value }: Row): KineRow {
  return {
    id: integer(id),
    name: String(name),
    created: created !== 0,
    deleted: deleted !== 0,
    createRevision: integer(createRevision),
    lease: Number(lease),
    value: value instanceof Uint8Array ? value : new Uint8Array(),
  };
}

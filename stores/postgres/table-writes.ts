import type { AdministratorCalls } from './client.ts';

/** Functions of the server only: a table of the tenant's own is not opened, because it may run anything. */
const statement = `SELECT CASE WHEN pg_catalog.to_regclass('public.kine') IS NOT NULL
  THEN pg_catalog.pg_sequence_last_value(pg_catalog.pg_get_serial_sequence('public.kine', 'id')::regclass)::float8 END AS writes`;

/**
 * The last id that kine's table has given: each write inserts a row. Attempts that the table refused, because another writer was faster,
 * have taken one, too, and kine fills their gaps with rows. Throws `StoreError`.
 */
export async function tableWrites(calls: AdministratorCalls, schema: string): Promise<number> {
  return calls.within(schema, async (connection) => {
    const [row] = await connection.query(`count the writes to database ${schema}`, statement);
    return typeof row?.writes === 'number' ? row.writes : 0;
  });
}

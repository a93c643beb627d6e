import type { PostgresClient } from './client.ts';
import { ownershipDatabase } from './names.ts';

/**
 * Databases of tenancies that others may connect to, and who: every role (`PUBLIC`, which is what a new database begins with), or the role of
 * another tenancy. A database that accepts no connections yet is about to get its grants.
 */
export async function openDatabases(client: PostgresClient): Promise<readonly string[]> {
  if ((await client.database()) !== ownershipDatabase) return [];
  const rows = await client.query(
    'look for open databases',
    `SELECT t.schema, coalesce(r.rolname, '') AS role
     FROM public.tenancies t JOIN pg_database d ON d.datname = t.schema,
       aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) g LEFT JOIN pg_roles r ON r.oid = g.grantee
     WHERE d.datallowconn AND g.privilege_type = 'CONNECT'
       AND (g.grantee = 0 OR (r.rolname <> t."user" AND r.rolname IN (SELECT "user" FROM public.tenancies)))
     ORDER BY t.schema LIMIT 1`,
  );
  return rows.map(({ schema, role }) => {
    const whom =
      role === '' ? 'every role, because CONNECT is granted to PUBLIC' : `role ${String(role)} of another tenant`;
    return `connections to database ${String(schema)} of a tenant by ${whom}`;
  });
}

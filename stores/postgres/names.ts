import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';

/** The database in which the owners of tenancies are recorded. No tenant may connect to it. */
export const ownershipDatabase = 'steward_tenancies';

/** PostgreSQL cuts longer names off, in bytes (NAMEDATALEN). */
const longestName = 63;

/** Databases that every server has, or that are ours. */
const databases: ReadonlySet<string> = new Set(['postgres', 'template0', 'template1', 'root', ownershipDatabase]);
/** Roles that PostgreSQL keeps for itself beside those that begin with `pg_`, or that mean an administrator. */
const roles: ReadonlySet<string> = new Set(['postgres', 'public', 'none', 'root']);

/** Names that kine's connection string does not change. */
const plain = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

/** Says why a tenancy cannot have its names in PostgreSQL; undefined when it can. `administrator`: the manager's role. */
export function postgresNameProblem({ schema, user }: Tenancy, administrator: string): string | undefined {
  for (const [what, name] of [
    ['schema', schema],
    ['user', user],
  ] as const) {
    if (!plain.test(name)) return `the ${what} ${JSON.stringify(name)}: use letters, digits, "_" and "-"`;
    if (name.length > longestName)
      return `the ${what} ${name}: it has ${name.length} characters, at most ${longestName} are allowed`;
  }
  if (schema !== schema.toLowerCase()) {
    return `the schema ${schema}: kine reads database names in lower case, use lower case`;
  }
  if (databases.has(schema)) return `the schema ${schema}: this database is reserved by the server`;
  if (roles.has(user) || user === administrator || user.startsWith('pg_')) {
    return `the user ${user}: this role is reserved by the server or is an administrator`;
  }
  return undefined;
}

/** Throws `StoreError` InvalidName where there is a problem. */
export function refuseUnsafeNames(tenancy: Tenancy, administrator: string): void {
  const problem = postgresNameProblem(tenancy, administrator);
  if (problem !== undefined) throw new StoreError('InvalidName', `a tenancy in PostgreSQL cannot use ${problem}`);
}

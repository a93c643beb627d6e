import type { Tenancy } from '../driver.ts';
import { StoreError } from '../store-error.ts';

/**
 * Where owners are recorded. The dots keep it apart from every name that a tenancy can have.
 */
export const ownershipSchema = 'steward.butlerlabs.dev';

/** Longest name of a database. */
const longestSchema = 64;

/** Longest name of an account in MySQL; MariaDB takes more. */
const longestUser = 32;

const serversOwn = new Set(['mysql', 'information_schema', 'performance_schema', 'sys', 'root']);
const accountsOfServers = new Set(['root', 'mysql', 'public']);

/** What passes needs no quoting, is quoted all the same, and survives kine's `user:password@tcp(host:port)/schema`. */
const plain = /^[A-Za-z0-9_$-]+$/;

function schemaProblem(schema: string): string | undefined {
  if (!plain.test(schema)) return 'may hold only letters of ASCII, digits, "_", "-" and "$"';
  if (schema.length > longestSchema) return `has ${schema.length} characters; a database takes ${longestSchema}`;
  return serversOwn.has(schema.toLowerCase()) ? "is the server's own" : undefined;
}

function userProblem(user: string): string | undefined {
  if (!plain.test(user)) return 'may hold only letters of ASCII, digits, "_", "-" and "$"';
  if (user.length > longestUser) return `has ${user.length} characters; an account takes ${longestUser}`;
  return accountsOfServers.has(user.toLowerCase()) ? "is the server's own" : undefined;
}

/** Says which name of a tenancy cannot be used, and why; undefined when both can. */
export function unsafeNames({ schema, user }: Pick<Tenancy, 'schema' | 'user'>): string | undefined {
  const wrong = schemaProblem(schema);
  if (wrong !== undefined) return `the schema ${JSON.stringify(schema)} ${wrong}`;
  const bad = userProblem(user);
  return bad === undefined ? undefined : `the user ${JSON.stringify(user)} ${bad}`;
}

/** Throws `StoreError` InvalidName for names that cannot be a tenancy's. */
export function refuseUnsafeNames(tenancy: Tenancy): void {
  const wrong = unsafeNames(tenancy);
  if (wrong !== undefined) throw new StoreError('InvalidName', `${wrong}: choose another name`);
}

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

/** Such a name needs no quoting (but is quoted nevertheless) and is unambiguous in kine's `user:password@tcp(host:port)/schema`. */
const plain = /^[A-Za-z0-9_$-]+$/;

function schemaProblem(schema: string): string | undefined {
  if (!plain.test(schema)) return 'may contain only ASCII letters, digits, "_", "-" and "$"';
  if (schema.length > longestSchema) return `has ${schema.length} characters; at most ${longestSchema} are allowed`;
  return serversOwn.has(schema.toLowerCase()) ? 'is reserved by the server' : undefined;
}

function userProblem(user: string): string | undefined {
  if (!plain.test(user)) return 'may contain only ASCII letters, digits, "_", "-" and "$"';
  if (user.length > longestUser) return `has ${user.length} characters; at most ${longestUser} are allowed`;
  return accountsOfServers.has(user.toLowerCase()) ? 'is reserved by the server' : undefined;
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

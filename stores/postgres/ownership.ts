import type { Tenancy } from '../driver.ts';
import type { PostgresClient } from './client.ts';
import { refusedError, sqlState } from './errors.ts';
import { ownershipDatabase } from './names.ts';

/** What the server has recorded about the names of a tenancy. */
export type Ownership =
  { readonly is: 'own' } | { readonly is: 'unrecorded' } | { readonly is: 'foreign'; readonly owner: string };

/**
 * Where owners are recorded: one table in a separate database that only administrators may connect to. Both names are unique there, so that
 * the server refuses one of two concurrent owners. A database, because any administrator that may create databases can own it; not
 * comments on databases or roles, because every tenant can read those.
 */
export class PostgresOwnership {
  readonly #client: PostgresClient;
  #ready: Promise<void> | undefined;

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  /** Who owns the names. A name that is recorded in another combination is foreign, even for the same owner. */
  async read({ schema, user, owner }: Tenancy): Promise<Ownership> {
    if ((await this.#client.database()) !== ownershipDatabase) return { is: 'unrecorded' };
    await this.#prepared();
    const rows = await this.#client.query(
      'read the owners of tenancies',
      'SELECT schema, "user", owner FROM public.tenancies WHERE schema = $1 OR "user" = $2',
      [schema, user],
    );
    if (rows.length === 0) return { is: 'unrecorded' };
    const other = rows.find((row) => row.owner !== owner || row.schema !== schema || row.user !== user);
    return other === undefined ? { is: 'own' } : { is: 'foreign', owner: String(other.owner) };
  }

  /** Records both names as this owner's; false when one of them is recorded already. */
  async record({ schema, user, owner }: Tenancy): Promise<boolean> {
    await this.#createDatabase();
    await this.#prepared();
    const rows = await this.#client.query(
      'record the owner of a tenancy',
      'INSERT INTO public.tenancies (schema, "user", owner) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING owner',
      [schema, user, owner],
    );
    return rows.length === 1;
  }

  /** Forgets the owner of both names. */
  async release({ schema, user, owner }: Tenancy): Promise<void> {
    await this.#client.query(
      'delete the owner of a tenancy',
      'DELETE FROM public.tenancies WHERE schema = $1 AND "user" = $2 AND owner = $3',
      [schema, user, owner],
    );
  }

  async #createDatabase(): Promise<void> {
    if ((await this.#client.database()) === ownershipDatabase) return;
    const attempt = 'create the database of the ownership records';
    await this.#client.withConnection(async (connection) => {
      try {
        // No role may connect until the grant to PUBLIC is revoked.
        await connection.run(
          `CREATE DATABASE ${ownershipDatabase} TEMPLATE template0 ENCODING 'UTF8' ALLOW_CONNECTIONS false`,
        );
      } catch (error) {
        // Another manager was faster, or one died in between.
        if (!isThere(error)) throw refusedError(attempt, { endpoint: connection.endpoint, error });
      }
      await connection.query(attempt, `REVOKE ALL ON DATABASE ${ownershipDatabase} FROM PUBLIC`);
      await connection.query(attempt, `ALTER DATABASE ${ownershipDatabase} ALLOW_CONNECTIONS true`);
    });
    await this.#client.reconnect();
  }

  /** Runs once for each session, on the first call; again after a failure. */
  async #prepared(): Promise<void> {
    const ready = (this.#ready ??= this.#prepare());
    try {
      await ready;
    } catch (error) {
      if (this.#ready === ready) this.#ready = undefined;
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    const attempt = 'create the table of the ownership records';
    await this.#client.query(attempt, `REVOKE ALL ON DATABASE ${ownershipDatabase} FROM PUBLIC`);
    const [found] = await this.#client.query(attempt, `SELECT to_regclass('public.tenancies') IS NOT NULL AS there`);
    if (found?.there === true) return;
    await this.#client.query(
      attempt,
      'CREATE TABLE IF NOT EXISTS public.tenancies (schema text PRIMARY KEY, "user" text NOT NULL UNIQUE, owner text NOT NULL)',
    );
  }
}

/** The server's errors for something that exists already, also when it is being created at this moment. */
export function isThere(error: unknown): boolean {
  return ['42P04', '42710', '42P07', '23505'].includes(sqlState(error) ?? '');
}

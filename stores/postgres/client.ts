import type { LoginConfig } from '../login-config.ts';
import { PostgresConnection } from './connection.ts';
import type { Row } from './connection.ts';
import { dialWritable, isMissing } from './dial.ts';
import type { DialOptions } from './dial.ts';
import { isConnectionLoss, isSilence, refusedError, sqlState } from './errors.ts';
import type { Failure } from './errors.ts';
import { ownershipDatabase } from './names.ts';
import { Slots } from './slots.ts';

/** Every server has this database, and it never belongs to a tenant. */
const commonDatabase = 'postgres';

/** Creating and dropping databases copies and deletes some hundred files. */
const databaseMs = 60_000;

/** Milliseconds to wait for a lock on the permanent connection, where the lock of a tenant must not block other tenants. */
const sharedLockMs = 500;

/** The same for a short-lived connection. */
const lockMs = 5000;

/** Concurrent short-lived connections besides the permanent one: PostgreSQL supports few connections. */
const maxShortLived = 4;

/** The calls of an administrator. Their statements must be idempotent, because they may be repeated. */
export interface AdministratorCalls {
  /** Runs one statement on the permanent connection, which is opened again when it was lost. Throws `StoreError`. */
  query(attempt: string, statement: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Lends a separate connection to a database, for work that takes long or is done inside it. Throws `StoreError`. */
  within<T>(database: string, work: (connection: PostgresConnection) => Promise<T>): Promise<T>;
}

/**
 * The administrator's client of a server that may have several endpoints: a primary and its standbys, or several names of one server. The
 * first that accepts writes is used until it is lost; then the others are tried.
 */
export class PostgresClient implements AdministratorCalls, AsyncDisposable {
  readonly config: LoginConfig;
  readonly #slots = new Slots(maxShortLived);
  #main: Promise<PostgresConnection> | undefined;
  #preferred = 0;

  constructor(config: LoginConfig) {
    this.config = config;
  }

  async query(attempt: string, statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    for (let lost = false; ; lost = true) {
      const connection = await this.#connection();
      try {
        return await connection.run(statement, values);
      } catch (error) {
        const elsewhere = this.config.endpoints.length > 1 || !isSilence(error);
        if (lost || !elsewhere || !isConnectionLoss(error)) {
          throw refusedError(attempt, { endpoint: connection.endpoint, error });
        }
      }
    }
  }

  async within<T>(database: string, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    return this.#slots.use(async () => {
      await using connection = await this.#dial(database, { statementMs: databaseMs, lockMs });
      return await work(connection);
    });
  }

  /** The same in the database that every server has. */
  async withConnection<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    return this.within(commonDatabase, work);
  }

  /** The database that `query` uses: that of the ownership records once it exists. */
  async database(): Promise<string> {
    return (await this.#connection()).database;
  }

  /** Closes the permanent connection, so that the next `query` chooses its database again. */
  async reconnect(): Promise<void> {
    const main = this.#main;
    this.#main = undefined;
    await (await main)?.[Symbol.asyncDispose]();
  }

  /** What is wrong with the endpoints that are not in use. */
  async failures(): Promise<readonly Failure[]> {
    const { endpoint: used, database } = await this.#connection();
    const tries = this.config.endpoints.map(async (endpoint): Promise<readonly Failure[]> => {
      if (endpoint.name === used) return [];
      try {
        const connection = await PostgresConnection.open({ ...this.config, endpoint, database });
        await connection[Symbol.asyncDispose]();
        return [];
      } catch (error) {
        return [{ endpoint: endpoint.name, error }];
      }
    });
    return (await Promise.all(tries)).flat();
  }

  /** False when the server in use refuses clients without a certificate; otherwise true, also when it does not answer. */
  async admitsWithoutCertificate(): Promise<boolean> {
    const { endpoint: used, database } = await this.#connection();
    const endpoint = this.config.endpoints.find(({ name }) => name === used);
    const { tls } = this.config;
    if (endpoint === undefined || tls === undefined) return true;
    try {
      const connection = await PostgresConnection.open({ ...this.config, tls: { ca: tls.ca }, endpoint, database });
      await connection[Symbol.asyncDispose]();
      return true;
    } catch (error) {
      return sqlState(error) !== '28000';
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const main = this.#main;
    this.#main = undefined;
    // One that never opened has nothing to close.
    await (await main?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  async #connection(): Promise<PostgresConnection> {
    const main = this.#main;
    if (main !== undefined) {
      const connection = await main;
      if (connection.usable) return connection;
      // The first caller that sees it connects again; the lost endpoint is tried last.
      if (this.#main === main) this.#redial(this.#preferred + 1);
    } else this.#redial(this.#preferred);
    return this.#connection();
  }

  #redial(first: number): void {
    this.#preferred = first % Math.max(1, this.config.endpoints.length);
    const opening = this.#dial(ownershipDatabase).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      return this.#dial(commonDatabase);
    });
    this.#main = opening;
    // The next call connects again instead of getting the same failure.
    opening.catch(() => {
      if (this.#main === opening) this.#main = undefined;
    });
  }

  /** Throws `StoreError`, or the library's error when there is no such database. */
  async #dial(database: string, options: DialOptions = { lockMs: sharedLockMs }): Promise<PostgresConnection> {
    const first = this.#preferred;
    const { connection, at } = await dialWritable(this.config, database, {
      ...options,
      first,
    });
    this.#preferred = at;
    return connection;
  }
}

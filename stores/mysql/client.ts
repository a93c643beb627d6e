import type { LoginConfig } from '../login-config.ts';
import type { MysqlConnection, OpenMysql } from './connection.ts';
import {
  isAtConnectionLimit,
  isLost,
  isWrongLogin,
  mysqlError,
  MysqlError,
  translated,
  unreachableError,
} from './errors.ts';
import type { MysqlFailure } from './errors.ts';
import { requireWritable } from './writable.ts';

/** The connection to an endpoint, or its failure. */
type Answer =
  | { readonly connection: MysqlConnection; readonly failure?: never }
  | { readonly failure: MysqlFailure; readonly connection?: never };

/**
 * A shared connection to the first endpoint that accepts writes. All endpoints are dialed at once, so that a dead one costs no time; a
 * lost connection is replaced and the work repeated once, because all work here is idempotent.
 */
export class MysqlClient implements AsyncDisposable {
  readonly config: LoginConfig;
  readonly #open: OpenMysql;
  #current: Promise<MysqlConnection> | undefined;

  constructor(config: LoginConfig, open: OpenMysql) {
    this.config = config;
    this.#open = open;
  }

  /**
   * Lends the connection. Throws the `StoreError` of `work`; every other error becomes one that names the attempt.
   */
  async use<T>(attempt: string, work: (connection: MysqlConnection) => Promise<T>): Promise<T> {
    for (let last = false; ; last = true) {
      const current = (this.#current ??= this.#dial());
      let connection: MysqlConnection;
      try {
        connection = await current;
      } catch (error) {
        if (this.#current === current) this.#current = undefined;
        throw error;
      }
      try {
        await requireWritable(connection);
        return await work(connection);
      } catch (error) {
        if (!(error instanceof MysqlError)) throw error;
        const lost = isLost(error);
        if (lost) {
          if (this.#current === current) this.#current = undefined;
          connection.destroy();
        }
        if (!lost || last) throw translated(attempt, { endpoint: connection.endpoint, error });
      }
    }
  }

  /** A connection of the caller's own, to the first endpoint that takes writes. Throws `StoreError`. */
  async dedicated(): Promise<MysqlConnection> {
    return this.#dial();
  }

  /** Says what is wrong with each endpoint, with new connections that are closed again. */
  async failures(): Promise<readonly MysqlFailure[]> {
    const answers = await Promise.all(this.#answers());
    for (const { connection } of answers) await connection?.[Symbol.asyncDispose]();
    return answers.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  }

  /**
   * True when a tenant's name and password open the server of `connection`, false when it refuses them. Throws `MysqlError`
   * if that cannot be determined.
   */
  async admits(connection: MysqlConnection, username: string, password: string): Promise<boolean> {
    const endpoint = this.config.endpoints.find(({ name }) => name === connection.endpoint);
    if (endpoint === undefined) throw new RangeError(`${connection.endpoint} is not an endpoint of this datastore`);
    const { tls } = this.config;
    try {
      const opened = await this.#open({ endpoint, username, password, tls: tls && { ca: tls.ca } });
      await opened[Symbol.asyncDispose]();
      return true;
    } catch (thrown) {
      const error = mysqlError(thrown);
      if (isWrongLogin(error)) return false;
      if (isAtConnectionLimit(error)) return true;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    // One that never opened has nothing to close; its users got the error.
    await (await current?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  /** Dials all endpoints; a connection that `check` refuses is closed again. */
  #answers(check?: (connection: MysqlConnection) => Promise<void>): readonly Promise<Answer>[] {
    const { endpoints, username, password, tls } = this.config;
    return endpoints.map(async (endpoint): Promise<Answer> => {
      let connection: MysqlConnection | undefined;
      try {
        connection = await this.#open({ endpoint, username, password, tls });
        await check?.(connection);
        return { connection };
      } catch (error) {
        connection?.destroy();
        return { failure: { endpoint: endpoint.name, error: mysqlError(error) } };
      }
    });
  }

  async #dial(): Promise<MysqlConnection> {
    const failures: MysqlFailure[] = [];
    let chosen: MysqlConnection | undefined;
    for (const answer of this.#answers(requireWritable)) {
      if (chosen === undefined) {
        const { connection, failure } = await answer;
        chosen = connection;
        if (failure !== undefined) failures.push(failure);
      } else {
        answer
          .then(({ connection }) => connection?.[Symbol.asyncDispose]())
          .catch(() => {
            // An unused connection has nothing to lose.
          });
      }
    }
    if (chosen === undefined) throw unreachableError(failures);
    return chosen;
  }
}

import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { createConnection } from 'mysql2/promise';
import type { Connection, ResultSetHeader, RowDataPacket, SslOptions } from 'mysql2/promise';
import type { Endpoint } from '../endpoint.ts';
import type { StoreTls } from '../store-tls.ts';
import { deadlineMs, textOf } from './connection.ts';
import type { MysqlConnection, OpenMysql, Row, ServerFacts, Value } from './connection.ts';
import { mysqlError, MysqlError } from './errors.ts';
import { parseMysqlVersion } from './version.ts';

const factsStatement = 'SELECT VERSION() AS version, @@version_comment AS comment, @@lower_case_table_names AS folds';

const readOnlyStatement = 'SELECT @@global.read_only OR @@global.innodb_read_only AS readOnly';

/** Session settings: string literals as in `sql.ts`, no silent truncation, no endless wait for a lock. */
const sessionStatement =
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', lock_wait_timeout = 5, innodb_lock_wait_timeout = 5";

/**
 * When the library passes only the socket, Node checks the certificate of a server with an IP address against `localhost`. A socket that
 * was connected by name keeps that name: here the address with a trailing dot, which the check removes.
 */
function dial({ host, port }: Endpoint): Socket {
  const family = isIP(host);
  if (family === 0) return connect({ host, port });
  return connect({
    host: `${host}.`,
    port,
    lookup: (_name, { all }, found) => {
      if (all === true) found(null, [{ address: host, family }]);
      else found(null, host, family);
    },
  });
}

/**
 * Connects and queries the properties of the server. The only file that knows the client library; import it lazily, it is
 * large. Throws `MysqlError` after at most `deadlineMs`.
 */
export const openMysqlConnection: OpenMysql = async (target) => {
  const { endpoint, username, password, tls, database } = target;
  let library: Connection;
  try {
    library = await createConnection({
      host: endpoint.host,
      port: endpoint.port,
      stream: () => dial(endpoint),
      user: username,
      password,
      database,
      ...(tls && { ssl: sslOf(tls) }),
      connectTimeout: deadlineMs,
      charset: 'utf8mb4',
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
      multipleStatements: false,
      maxPreparedStatements: 100,
      flags: ['-LOCAL_FILES'],
    });
  } catch (error) {
    throw mysqlError(error);
  }
  const connection = new LibraryConnection(endpoint.name, library);
  try {
    await connection.run(sessionStatement);
    return connection.knowing(factsOf((await connection.run(factsStatement))[0]));
  } catch (error) {
    connection.destroy();
    throw error;
  }
};

function sslOf({ ca, client }: StoreTls): SslOptions {
  return {
    ca,
    rejectUnauthorized: true,
    verifyIdentity: true,
    ...(client && { cert: client.certificate, key: client.key }),
  };
}

function factsOf(row: Row | undefined): ServerFacts {
  return {
    version: parseMysqlVersion(textOf(row?.version), textOf(row?.comment)),
    foldsNames: textOf(row?.folds) !== '0',
  };
}

class LibraryConnection implements MysqlConnection {
  readonly endpoint: string;
  readonly #library: Connection;
  #facts: ServerFacts | undefined;

  constructor(endpoint: string, library: Connection) {
    this.endpoint = endpoint;
    this.#library = library;
    // The statement under way gets the error; without a listener an idle connection that is lost would end the process.
    library.on('error', () => undefined);
  }

  get facts(): ServerFacts {
    if (this.#facts === undefined) throw new Error('the server has not been queried yet');
    return this.#facts;
  }

  knowing(facts: ServerFacts): this {
    this.#facts = facts;
    return this;
  }

  async isReadOnly(): Promise<boolean> {
    return textOf((await this.run(readOnlyStatement))[0]?.readOnly) !== '0';
  }

  async rows(statement: string, values: readonly Value[] = [], withinMs = deadlineMs): Promise<readonly Row[]> {
    const answer = this.#library.execute<RowDataPacket[]>(statement, values.map(plain));
    return (await this.#within(answer, withinMs))[0];
  }

  async change(statement: string, values: readonly Value[] = [], withinMs = deadlineMs): Promise<number> {
    const answer = this.#library.execute<ResultSetHeader>(statement, values.map(plain));
    return (await this.#within(answer, withinMs))[0].affectedRows;
  }

  async run(statement: string, withinMs = deadlineMs): Promise<readonly Row[]> {
    const [answer] = await this.#within(this.#library.query<RowDataPacket[] | ResultSetHeader>(statement), withinMs);
    return Array.isArray(answer) ? answer : [];
  }

  destroy(): void {
    this.#library.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#within(this.#library.end(), deadlineMs);
    } catch {
      // A connection that is lost has nothing left to close.
      this.destroy();
    }
  }

  /** Closes the connection when a statement is late: it would be in the middle of an answer. */
  async #within<T>(answer: Promise<T>, withinMs: number): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new MysqlError('ETIMEDOUT', undefined, `no answer within ${withinMs} ms`));
      this.destroy();
    }, withinMs);
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      throw mysqlError(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function plain(value: Value): string | number | Buffer | null {
  return typeof value === 'bigint' ? value.toString() : value;
}

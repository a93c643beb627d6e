import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { checkServerIdentity } from 'node:tls';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import type { Credential } from '../credentials.ts';
import type { NamedEndpoint } from '../endpoint.ts';
import { isCatalogRace, isConnectionLoss, refusedError } from './errors.ts';

/** Default timeout of an answer in milliseconds. */
const answerMs = 5000;

const catalogRetries = 5;

/** DDL statements take no parameters: names and texts are quoted by the library. */
export const quoted = { name: escapeIdentifier, text: escapeLiteral } as const;

/** One row, by the names of its columns. What is wider than a number (bigint) comes as text. */
export type Row = Readonly<Record<string, unknown>>;

/** The server and the credentials for a connection. */
export interface PostgresTarget {
  readonly endpoint: NamedEndpoint;
  readonly database: string;
  readonly username: string;
  readonly password: string;
  readonly tls?: { readonly ca: string; readonly client?: Credential };
  /** The time limit of one statement in milliseconds; 5000 by default. */
  readonly statementMs?: number;
  /** How long to wait for a lock, in milliseconds; by default as long as for the statement. */
  readonly lockMs?: number;
  /** The role whose permissions the session has; by default the login role. A name without blanks. */
  readonly role?: string;
}

/**
 * One connection to one server: the only file that knows the library. Statements run one after the other, each with a deadline.
 * A connection that was lost, or did not answer in time, is closed for good.
 */
export class PostgresConnection implements AsyncDisposable {
  readonly endpoint: string;
  readonly database: string;
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #statementMs: number;
  #turn: Promise<unknown> = Promise.resolve();
  #lost = false;

  private constructor(target: PostgresTarget, client: Client, socket: Socket) {
    this.endpoint = target.endpoint.name;
    this.database = target.database;
    this.#client = client;
    this.#socket = socket;
    this.#statementMs = target.statementMs ?? answerMs;
    client.on('error', () => {
      // The next statement reports it; without a listener the process would end.
      this.#lost = true;
    });
  }

  /** Dials and logs in. Throws the library's error. */
  static async open(target: PostgresTarget): Promise<PostgresConnection> {
    const { endpoint, tls, username: user, password, database } = target;
    const statementMs = target.statementMs ?? answerMs;
    const socket = new Socket();
    const client = new Client({
      stream: () => socket,
      ...{ host: endpoint.host, port: endpoint.port, user, password, database },
      ssl: tls !== undefined && {
        ca: tls.ca,
        ...(tls.client && { cert: tls.client.certificate, key: tls.client.key }),
        // For an IP address no server name is sent, and the library would not check the address.
        checkServerIdentity: (_name, certificate) => checkServerIdentity(endpoint.host, certificate),
      },
      application_name: 'steward',
      connectionTimeoutMillis: answerMs,
      statement_timeout: statementMs,
      keepAlive: true,
      // So that an unqualified name never refers to an object that a tenant created in its database.
      options: sessionOptions(target),
    });
    const connection = new PostgresConnection(target, client, socket);
    try {
      await client.connect();
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw error;
    }
    return connection;
  }

  /** False once the connection is unusable. */
  get usable(): boolean {
    return !this.#lost;
  }

  /** Runs one statement in its turn, and repeats it when it lost a race for a row of a catalog. Throws the library's error. */
  run(statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.exclusive(async (query) => {
      for (let left = catalogRetries; ; left -= 1) {
        try {
          return await query(statement, values);
        } catch (error) {
          if (left === 0 || !isCatalogRace(error)) throw error;
        }
      }
    });
  }

  /** The same, but throws `StoreError`; `attempt` names the purpose: "create role x". */
  async query(attempt: string, statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return await this.run(statement, values);
    } catch (error) {
      throw refusedError(attempt, { endpoint: this.endpoint, error });
    }
  }

  /** Keeps all others waiting while several statements run that belong together. */
  async exclusive<T>(work: (query: PostgresConnection['run']) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => work((statement, values) => this.#run(statement, values)));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#lost) {
      this.#lost = true;
      const farewell = this.#client.end().catch(() => undefined);
      // A server that no longer answers does not confirm the end.
      await Promise.race([farewell, delay(500, undefined, { ref: false })]);
    }
    this.#socket.destroy();
  }

  async #run(statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      // The server aborts statements that take too long; if it does not answer at all, the client gives up a moment later.
      const config = { text: statement, values: [...values], query_timeout: this.#statementMs + 1000 };
      return (await this.#client.query<Record<string, unknown>>(config)).rows;
    } catch (error) {
      if (isConnectionLoss(error)) {
        this.#lost = true;
        this.#socket.destroy();
      }
      throw error;
    }
  }
}

function sessionOptions({ lockMs = 0, role }: PostgresTarget): string {
  // Set at the start, the role also applies after a RESET by the tenant's code.
  return ['search_path=pg_catalog', `lock_timeout=${lockMs}`, ...(role === undefined ? [] : [`role=${role}`])]
    .map((setting) => `-c ${setting}`)
    .join(' ');
}

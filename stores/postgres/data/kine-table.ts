import { setTimeout as delay } from 'node:timers/promises';
import type { KineHead, KineRow } from '../../kine/kine-row.ts';
import { gapName } from '../../kine/kine-keys.ts';
import type { KineTable, KineWriter } from '../../kine/kine-table.ts';
import type { Tenancy, TenancyContent } from '../../driver.ts';
import type { LoginConfig } from '../../login-config.ts';
import { StoreError } from '../../store-error.ts';
import { dialWritable, isMissing } from '../dial.ts';
import { isCrowded, isLockTimeout, refusedError } from '../errors.ts';
import type { PostgresConnection, Row } from '../connection.ts';
import { columnsOf, headOf, integer, rowOf } from './kine-rows.ts';
import { createKine, kineSql } from './kine-sql.ts';

/** Reading a page of a large table, or counting it, may take long. */
const statementMs = 60_000;

/** How long a transaction of the tenant is waited for. */
const longestTransactionMs = 10_000;

/** Attempts to lock the whole table before it stays fenced for all names. */
const attemptsToOpen = 5;

type Query = PostgresConnection['run'];

/** Whose table it is, and what an administrator does for it. */
interface KineTableOptions {
  readonly tenancy: Tenancy;
  readonly closed: () => Promise<void>;
  /** Ends the connections of all others that write, and lets them know of this one. */
  readonly beginWriting: () => Promise<void>;
  /** Ends the connections of all others that write. */
  readonly endOthers: () => Promise<void>;
}

/** A table of the tenant's own may answer with anything. */
const figure = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

/** kine's table in PostgreSQL, as the tenant itself reaches it. */
export class PostgresKineTable implements KineTable {
  readonly #connection: PostgresConnection;
  readonly #options: KineTableOptions;

  private constructor(connection: PostgresConnection, options: KineTableOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Logs in with a member of the tenant's role, and takes it. Throws `StoreError`. */
  static async open(login: LoginConfig, options: KineTableOptions): Promise<PostgresKineTable> {
    return new PostgresKineTable(await dial(login, options.tenancy), options);
  }

  async create(): Promise<void> {
    const [found] = await this.#ask('find the table', kineSql.exists);
    if (found?.there === true) return;
    await this.#transaction('create the table', async (query) => {
      for (const statement of createKine) await query(statement);
    });
  }

  async position(): ReturnType<KineTable['position']> {
    const [found] = await this.#ask('read the revision', kineSql.position);
    return { last: integer(found?.last), compacted: integer(found?.compacted) };
  }

  async settle(): Promise<void> {
    // Only the writers at this moment: later ones get later ids. Readers and writers continue meanwhile.
    let under = await this.#writers();
    const end = performance.now() + longestTransactionMs;
    while (under.size > 0) {
      if (performance.now() > end) {
        const what = `a transaction has been writing to database ${this.#connection.database} for ${longestTransactionMs / 1000} s`;
        throw new StoreError('Failed', `${what}: wait for it, or end it with pg_terminate_backend`);
      }
      await delay(2);
      const still = await this.#writers();
      under = new Set([...under].filter((transaction) => still.has(transaction)));
    }
  }

  async count(): Promise<number> {
    return Number((await this.#ask('count the keys', kineSql.count))[0]?.keys);
  }

  /** What the tenant stores; nothing where there is no table. */
  async content(): Promise<TenancyContent> {
    const [found] = await this.#ask('find the table', kineSql.exists);
    if (found?.there !== true) return { keys: 0, bytes: 0 };
    const [row] = await this.#ask('measure the keys', kineSql.content);
    return { keys: figure(row?.keys), bytes: figure(row?.bytes) };
  }

  async newest(revision: bigint, after: string, limit: number): Promise<readonly KineHead[]> {
    return (await this.#ask('list the keys', kineSql.newest, [revision, after, limit])).map(headOf);
  }

  async following(after: bigint, limit: number, through?: bigint): Promise<readonly KineHead[]> {
    return (await this.#ask('list the changes', kineSql.following, [after, through ?? null, limit])).map(headOf);
  }

  async read(ids: readonly bigint[]): Promise<readonly KineRow[]> {
    return ids.length === 0 ? [] : (await this.#ask('read the keys', kineSql.read, [ids])).map(rowOf);
  }

  async beginWrites(): Promise<void> {
    await this.#options.beginWriting();
  }

  async endWrites(): Promise<void> {
    // A connection whose statement was not answered in time is closed, and fails here: what it has answered came after all its own.
    await this.#ask('wait for its own writes', 'SELECT 1');
    await this.#options.endOthers();
  }

  async writing<T>(work: (writer: KineWriter) => Promise<T>): Promise<T> {
    return this.#transaction('write', async (query) => {
      // Others see neither the grant nor the revocation: both are one transaction.
      const fenced = (await query(kineSql.mayWrite))[0]?.may !== true;
      if (fenced) await unfence(query);
      const result = await work(writerOf(query));
      if (fenced) await query(kineSql.fence);
      return result;
    });
  }

  async fence(): Promise<void> {
    await this.#ask('block the writes of the tenant', kineSql.fence);
    const [right] = await this.#ask('check whether the tenant may write', kineSql.mayWrite);
    if (right?.may !== false) {
      const help = 'make the tenant the owner of the table, and revoke the grants of others';
      throw new StoreError('Failed', `the tenant can still write to database ${this.#connection.database}: ${help}`);
    }
    // Writers that lock the table from here on see the revocation; `settle` waits for those that have locked it already.
    await this.settle();
  }

  async openUncopied(): Promise<void> {
    for (let attempt = 1; attempt <= attemptsToOpen; attempt += 1) {
      try {
        await this.#transaction('allow writes to keys that are not copied', async (query) => {
          if ((await query(kineSql.isOpenToUncopied))[0]?.open === true) return;
          await query(kineSql.impatient);
          for (const statement of kineSql.openUncopied) await query(statement);
        });
        return;
      } catch (error) {
        if (!(error instanceof StoreError) || !isLockTimeout(error.cause)) throw error;
      }
    }
  }

  async unfence(): Promise<void> {
    await this.#transaction('unblock the writes of the tenant', unfence);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
    await this.#options.closed();
  }

  async #writers(): Promise<ReadonlySet<string>> {
    const found = await this.#ask('wait for pending writes', kineSql.writers);
    return new Set(found.map(({ transaction }) => String(transaction)));
  }

  #ask(attempt: string, statement: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#connection.query(`${attempt} in database ${this.#connection.database}`, statement, values);
  }

  async #transaction<T>(attempt: string, work: (query: Query) => Promise<T>): Promise<T> {
    const { database, endpoint } = this.#connection;
    return this.#connection.exclusive(async (query) => {
      try {
        await query('BEGIN');
        const result = await work(query);
        await query('COMMIT');
        return result;
      } catch (error) {
        // A connection that is lost takes its transaction with it.
        if (this.#connection.usable) await query('ROLLBACK');
        throw refusedError(`${attempt} in database ${database}`, { endpoint, error });
      }
    });
  }
}

async function dial(login: LoginConfig, { schema, user: role }: Tenancy): Promise<PostgresConnection> {
  try {
    return (await dialWritable(login, schema, { statementMs, role })).connection;
  } catch (error) {
    // The administrator was just connected, so a refusal here concerns this tenancy only.
    const refused = error instanceof StoreError && (error.reason === 'Unauthorized' || isCrowded(error.cause));
    if (!refused && !isMissing(error)) throw error;
    const what = refused ? `refuses the role for copying (${error.message})` : 'does not exist';
    throw new StoreError('Failed', `database ${schema} ${what}: create or repair the tenancy first`, { cause: error });
  }
}

async function unfence(query: Query): Promise<void> {
  if ((await query(kineSql.isOpenToUncopied))[0]?.open === true) {
    for (const statement of kineSql.closeUncopied) await query(statement);
  }
  await query(kineSql.unfence);
}

function writerOf(query: Query): KineWriter {
  return {
    latest: async (names) => (await query(kineSql.latest, [names])).map(rowOf),
    insert: async (rows) => {
      if (rows.length > 0) await query(kineSql.insert, columnsOf(rows));
    },
    raise: async (revision) => {
      await query(kineSql.startCompaction);
      const [found] = await query(kineSql.reached, [revision]);
      const [last, wanted] = [integer(found?.last), integer(found?.wanted)];
      // Also when the id is high enough: a copy that inserts rows with ids does not advance the sequence.
      await query(kineSql.goOn, [wanted]);
      if (last >= revision) return last;
      await query(kineSql.fill, [wanted, gapName(wanted)]);
      await query(kineSql.compacted, [wanted]);
      return wanted;
    },
  };
}

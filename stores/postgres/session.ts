import type { ServerState, Session, Tenancy, TenancySize } from '../driver.ts';
import { foreignError, unrecordedError } from '../ownership-error.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { PostgresClient } from './client.ts';
import { databaseSize, dropDatabase, ensureDatabase, readDatabase } from './database.ts';
import { dropCopyLogins, lockCopiesOut } from './data/copy-login.ts';
import { openPostgresData, postgresContent } from './data/data.ts';
import { lockOut } from './revoke-connect.ts';
import { refuseUnsafeNames, postgresNameProblem } from './names.ts';
import { openDatabases } from './openings.ts';
import { PostgresOwnership } from './ownership.ts';
import { dropRole, ensureRole, readRole } from './grants.ts';
import { readServerState } from './server-state.ts';
import { tableWrites } from './table-writes.ts';

/** An administrative connection to one PostgreSQL. */
export class PostgresSession implements Session {
  readonly #client: PostgresClient;
  readonly #ownership: PostgresOwnership;

  constructor(client: PostgresClient) {
    this.#client = client;
    this.#ownership = new PostgresOwnership(client);
  }

  ping(): Promise<ServerState> {
    return readServerState(this.#client);
  }

  async ensure(tenancy: Tenancy): Promise<void> {
    refuseUnsafeNames(tenancy, this.#client.config.username);
    await this.#claim(tenancy);
    await ensureRole(this.#client, tenancy);
    await ensureDatabase(this.#client, tenancy);
  }

  async remove(tenancy: Tenancy): Promise<void> {
    // Such names are never given a tenancy, so there is none to remove.
    if (postgresNameProblem(tenancy, this.#client.config.username) !== undefined) return;
    const ownership = await this.#ownership.read(tenancy);
    if (ownership.is === 'foreign') return;
    if (ownership.is === 'unrecorded') {
      const found = await this.#found(tenancy);
      if (found.length === 0) return;
      if (tenancy.adopt !== true) throw unrecordedError(tenancy, 'PostgreSQL', found);
      await this.#claim(tenancy);
    }
    // Access is removed first: from here on, none of the tenant's credentials work.
    await lockOut(this.#client, tenancy.user);
    await lockCopiesOut(this.#client, tenancy.user);
    await dropDatabase(this.#client, tenancy.schema);
    await dropCopyLogins(this.#client, tenancy.user);
    await dropRole(this.#client, tenancy.user);
    // The record is deleted last, so that an interrupted removal can be continued.
    await this.#ownership.release(tenancy);
  }

  async revoke(tenancy: Tenancy): Promise<void> {
    if (postgresNameProblem(tenancy, this.#client.config.username) !== undefined) return;
    const ownership = await this.#ownership.read(tenancy);
    if (ownership.is !== 'own') return;
    await lockOut(this.#client, tenancy.user);
    await dropCopyLogins(this.#client, tenancy.user);
  }

  async measure(tenancy: Tenancy): Promise<TenancySize | undefined> {
    if (!(await this.#isOwn(tenancy))) return undefined;
    const bytes = await databaseSize(this.#client, tenancy.schema);
    if (bytes === undefined) return undefined;
    const content = await postgresContent(this.#client, tenancy);
    return { bytes, content, writes: await tableWrites(this.#client, tenancy.schema) };
  }

  async countWrites(tenancy: Tenancy): Promise<number | undefined> {
    if (!(await this.#isOwn(tenancy))) return undefined;
    if ((await readDatabase(this.#client, tenancy.schema)) === undefined) return undefined;
    return tableWrites(this.#client, tenancy.schema);
  }

  openings(): Promise<readonly string[]> {
    return openDatabases(this.#client);
  }

  async data(tenancy: Tenancy): Promise<TenancyData> {
    const ownership = await this.#ownership.read(tenancy);
    if (ownership.is !== 'own') throw foreignError(tenancy, ownership);
    return openPostgresData(this.#client, tenancy);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  /** Throws OwnedByAnother for the tenancy of another owner. */
  async #isOwn(tenancy: Tenancy): Promise<boolean> {
    const ownership = await this.#ownership.read(tenancy);
    if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
    return ownership.is === 'own';
  }

  async #claim(tenancy: Tenancy): Promise<void> {
    const before = await this.#ownership.read(tenancy);
    if (before.is === 'own') return;
    if (before.is === 'foreign') throw foreignError(tenancy, before);
    const found = await this.#found(tenancy);
    if (found.length > 0 && tenancy.adopt !== true) throw unrecordedError(tenancy, 'PostgreSQL', found);
    if (await this.#ownership.record(tenancy)) return;
    const after = await this.#ownership.read(tenancy);
    if (after.is !== 'own') throw foreignError(tenancy, after);
  }

  /** What exists under the names, for a message. Throws InvalidName for what cannot belong to a tenant. */
  async #found({ schema, user }: Tenancy): Promise<readonly string[]> {
    const [role, database] = [await readRole(this.#client, user), await readDatabase(this.#client, schema)];
    if (role?.rolsuper === true || role?.rolreplication === true) {
      throw new StoreError('InvalidName', `the user ${user} is a PostgreSQL administrator: choose another user`);
    }
    if (database?.datistemplate === true) {
      throw new StoreError('InvalidName', `the schema ${schema} is a PostgreSQL template: choose another schema`);
    }
    return [...(role === undefined ? [] : [`role ${user}`]), ...(database === undefined ? [] : [`database ${schema}`])];
  }
}

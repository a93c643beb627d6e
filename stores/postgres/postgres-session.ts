import type { ServerState, Session, Tenancy } from '../driver.ts';
import { foreignError, unrecordedError } from '../owned-by-another.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { PostgresClient } from './postgres-client.ts';
import { dropDatabase, ensureDatabase, readDatabase } from './postgres-database.ts';
import { dropCopyLogins, lockCopiesOut } from './postgres-copy-login.ts';
import { openPostgresData } from './postgres-data.ts';
import { lockOut } from './postgres-lock-out.ts';
import { refuseUnsafeNames, postgresNameProblem } from './postgres-names.ts';
import { PostgresOwnership } from './postgres-ownership.ts';
import { dropRole, ensureRole, readRole } from './postgres-role.ts';
import { readServerState } from './postgres-server-state.ts';

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
    // Access goes first: from here on no credential of the tenant opens anything.
    await lockOut(this.#client, tenancy.user);
    await lockCopiesOut(this.#client, tenancy.user);
    await dropDatabase(this.#client, tenancy.schema);
    await dropCopyLogins(this.#client, tenancy.user);
    await dropRole(this.#client, tenancy.user);
    // The record goes last: a removal that is cut short is still known to be ours.
    await this.#ownership.release(tenancy);
  }

  async revoke(tenancy: Tenancy): Promise<void> {
    if (postgresNameProblem(tenancy, this.#client.config.username) !== undefined) return;
    const ownership = await this.#ownership.read(tenancy);
    if (ownership.is !== 'own') return;
    await lockOut(this.#client, tenancy.user);
    await dropCopyLogins(this.#client, tenancy.user);
  }

  async data(tenancy: Tenancy): Promise<TenancyData> {
    const ownership = await this.#ownership.read(tenancy);
    if (ownership.is !== 'own') throw foreignError(tenancy, ownership);
    return openPostgresData(this.#client, tenancy);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
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

  /** What exists under the names, in words. Throws InvalidName for what can be no tenant's. */
  async #found({ schema, user }: Tenancy): Promise<readonly string[]> {
    const [role, database] = [await readRole(this.#client, user), await readDatabase(this.#client, schema)];
    if (role?.rolsuper === true || role?.rolreplication === true) {
      throw new StoreError('InvalidName', `the user ${user} is an administrator of PostgreSQL: choose another one`);
    }
    if (database?.datistemplate === true) {
      throw new StoreError('InvalidName', `the schema ${schema} is a template of PostgreSQL: choose another one`);
    }
    return [...(role === undefined ? [] : [`role ${user}`]), ...(database === undefined ? [] : [`database ${schema}`])];
  }
}

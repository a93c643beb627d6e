import type { ServerState, Session, Tenancy, TenancySize } from '../driver.ts';
import { KineData } from '../kine/kine-data.ts';
import { foreignError, unrecordedError } from '../ownership-error.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import { dropAccount, ensureAccount, hostsOf, passwordOf, refuseForeignRights } from './account.ts';
import type { MysqlClient } from './client.ts';
import type { MysqlConnection } from './connection.ts';
import { refuseOpenSchema } from './public-grants.ts';
import { refuseForeignObjects } from './other-objects.ts';
import { askServerState } from './server-state.ts';
import { planEncryption } from './encryption.ts';
import { explain, MysqlError, translated } from './errors.ts';
import { refuseUnsafeNames, unsafeNames } from './names.ts';
import { openSchemas } from './openings.ts';
import { readOwnership, recordOwnership, releaseOwnership } from './ownership.ts';
import type { OwnRecord } from './ownership.ts';
import { dropSchema, ensureSchema, hasSchema } from './schema.ts';
import { MysqlTable } from './data/table.ts';
import { schemaSize } from './schema-size.ts';
import { tableContent } from './table-content.ts';
import { tableWrites } from './table-writes.ts';

/** An administrative connection to one MySQL or MariaDB. */
export class MysqlSession implements Session {
  readonly #client: MysqlClient;

  constructor(client: MysqlClient) {
    this.#client = client;
  }

  async ping(): Promise<ServerState> {
    const [state, failures] = await Promise.all([this.#client.use('show its state', askServerState), this.#failures()]);
    const notes = [...(state.notes ?? []), ...failures];
    return { ...state, ...(notes.length > 0 && { notes }) };
  }

  async ensure(tenancy: Tenancy): Promise<void> {
    refuseUnsafeNames(tenancy);
    const { schema, user } = tenancy;
    const password = passwordOf(tenancy);
    const offered = this.#client.config.tls !== undefined;
    await this.#client.use(`create tenancy ${schema}`, async (connection) => {
      await refuseOpenSchema(connection, schema);
      await refuseForeignObjects(connection, schema);
      const { fenced, encryption: known } = await claim(connection, tenancy);
      // Any step may be the last one before a crash: each checks first, so that the next run continues from there.
      await ensureSchema(connection, schema);
      const encryption = await planEncryption(connection, tenancy, { known, offered });
      await ensureAccount(this.#client, connection, { schema, user, password, encryption, fenced });
      // Until now an account of the Go Steward could still create such objects.
      await refuseForeignObjects(connection, schema);
    });
  }

  async remove(tenancy: Tenancy): Promise<void> {
    // Such names are never given a tenancy, so there is none to remove.
    if (unsafeNames(tenancy) !== undefined && tenancy.adopt !== true) return;
    refuseUnsafeNames(tenancy);
    const { schema, user } = tenancy;
    await this.#client.use(`remove tenancy ${schema}`, async (connection) => {
      const ownership = await readOwnership(connection, tenancy);
      if (ownership.is === 'foreign') return;
      if (ownership.is === 'unrecorded') {
        const existing = await found(connection, tenancy);
        if (existing.length === 0) return;
        if (tenancy.adopt !== true) throw unrecordedError(tenancy, 'MySQL', existing);
        await claim(connection, tenancy);
      }
      // Access is removed first: from here on, none of the tenant's credentials work.
      await dropAccount(connection, user);
      await dropSchema(connection, schema);
      const left = await found(connection, tenancy);
      if (left.length > 0) {
        const text = `tenancy ${schema} is not removed yet: ${left.join(', ')} reappeared during the removal`;
        throw new StoreError('Failed', text);
      }
      // The record is deleted last, so that an interrupted removal can be continued.
      await releaseOwnership(connection, tenancy);
    });
  }

  async revoke(tenancy: Tenancy): Promise<void> {
    if (unsafeNames(tenancy) !== undefined) return;
    await this.#client.use(`revoke the access of tenancy ${tenancy.schema}`, async (connection) => {
      const ownership = await readOwnership(connection, tenancy);
      if (ownership.is === 'own') await dropAccount(connection, tenancy.user);
    });
  }

  async measure(tenancy: Tenancy): Promise<TenancySize | undefined> {
    const { schema } = tenancy;
    return this.#client.use(`measure database ${schema}`, async (connection) => {
      if (!(await isOwn(connection, tenancy))) return undefined;
      const bytes = await schemaSize(connection, schema);
      if (bytes === undefined) return undefined;
      await requirePlainTable(connection, tenancy);
      const content = await tableContent(connection, schema);
      return { bytes, content, writes: await tableWrites(connection, schema) };
    });
  }

  async countWrites(tenancy: Tenancy): Promise<number | undefined> {
    const { schema } = tenancy;
    return this.#client.use(`count the writes to database ${schema}`, async (connection) => {
      if (!(await isOwn(connection, tenancy))) return undefined;
      await requirePlainTable(connection, tenancy);
      return tableWrites(connection, schema);
    });
  }

  openings(): Promise<readonly string[]> {
    return this.#client.use('look for open databases', openSchemas);
  }

  async data(tenancy: Tenancy): Promise<TenancyData> {
    refuseUnsafeNames(tenancy);
    const connection = await this.#client.dedicated();
    try {
      await requireOwnership(connection, tenancy);
      // In this order: an account without other privileges cannot create anything after the check of the existing objects.
      await refuseForeignRights(connection, tenancy);
      await refuseForeignObjects(connection, tenancy.schema);
      return new KineData(new MysqlTable(connection, tenancy));
    } catch (error) {
      connection.destroy();
      if (!(error instanceof MysqlError)) throw error;
      throw translated(`open the data of ${tenancy.schema}`, { endpoint: connection.endpoint, error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  async #failures(): Promise<readonly string[]> {
    const [first] = this.#client.config.endpoints;
    return (await this.#client.failures()).map(({ endpoint, error }) => {
      const tenants = endpoint === first?.name ? '; tenants use only this endpoint' : '';
      return `${endpoint}: ${explain(error).text}${tenants}`;
    });
  }
}

/** Records the names for this owner, or throws; returns the record. */
async function claim(connection: MysqlConnection, tenancy: Tenancy): Promise<OwnRecord> {
  const before = await readOwnership(connection, tenancy);
  if (before.is === 'own') return before;
  if (before.is === 'foreign') throw foreignError(tenancy, before);
  if (tenancy.adopt !== true) {
    const existing = await found(connection, tenancy);
    if (existing.length > 0) throw unrecordedError(tenancy, 'MySQL', existing);
  }
  await recordOwnership(connection, tenancy);
  const after = await readOwnership(connection, tenancy);
  if (after.is === 'own') return after;
  throw foreignError(tenancy, after);
}

/** Data is only accessed for the recorded owner. */
async function requireOwnership(connection: MysqlConnection, tenancy: Tenancy): Promise<void> {
  const ownership = await readOwnership(connection, tenancy);
  if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
  if (ownership.is === 'unrecorded') throw unrecordedError(tenancy, 'MySQL', await found(connection, tenancy));
}

/** What exists under the names, for a message. */
async function found(connection: MysqlConnection, { schema, user }: Tenancy): Promise<readonly string[]> {
  const hosts = await hostsOf(connection, user);
  return [
    ...(hosts.length > 0 ? [`user ${user}`] : []),
    ...((await hasSchema(connection, schema)) ? [`database ${schema}`] : []),
  ];
}

/** Throws OwnedByAnother for the tenancy of another owner. */
async function isOwn(connection: MysqlConnection, tenancy: Tenancy): Promise<boolean> {
  const ownership = await readOwnership(connection, tenancy);
  if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
  return ownership.is === 'own';
}

/** What is read next must be a plain table that nobody can replace: in this order, as before a copy. */
async function requirePlainTable(connection: MysqlConnection, tenancy: Tenancy): Promise<void> {
  await refuseForeignRights(connection, tenancy);
  await refuseForeignObjects(connection, tenancy.schema);
}

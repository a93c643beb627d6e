import type { ServerState, Session, Tenancy } from '../driver.ts';
import { KineData } from '../kine/kine-data.ts';
import { foreignError, unrecordedError } from '../owned-by-another.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import { dropAccount, ensureAccount, hostsOf, passwordOf, refuseForeignRights } from './mysql-account.ts';
import type { MysqlClient } from './mysql-client.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import { refuseOpenSchema } from './mysql-everybody.ts';
import { refuseForeignObjects } from './mysql-foreign-objects.ts';
import { askServerState } from './mysql-server-state.ts';
import { planEncryption } from './mysql-encryption.ts';
import { explain, MysqlError, translated } from './mysql-errors.ts';
import { refuseUnsafeNames, unsafeNames } from './mysql-names.ts';
import { readOwnership, recordOwnership, releaseOwnership } from './mysql-ownership.ts';
import type { OwnRecord } from './mysql-ownership.ts';
import { dropSchema, ensureSchema, hasSchema } from './mysql-schema.ts';
import { MysqlTable } from './mysql-table.ts';

/** An administrative connection to one MySQL or MariaDB. */
export class MysqlSession implements Session {
  readonly #client: MysqlClient;

  constructor(client: MysqlClient) {
    this.#client = client;
  }

  async ping(): Promise<ServerState> {
    const [state, failures] = await Promise.all([this.#client.use('tell its state', askServerState), this.#failures()]);
    const notes = [...(state.notes ?? []), ...failures];
    return { ...state, ...(notes.length > 0 && { notes }) };
  }

  async ensure(tenancy: Tenancy): Promise<void> {
    refuseUnsafeNames(tenancy);
    const { schema, user } = tenancy;
    const password = passwordOf(tenancy);
    const offered = this.#client.config.tls !== undefined;
    await this.#client.use(`make tenancy ${schema}`, async (connection) => {
      await refuseOpenSchema(connection, schema);
      await refuseForeignObjects(connection, schema);
      const { fenced, encryption: known } = await claim(connection, tenancy);
      // Each step may be the last before a crash: all look first, so that the next run goes on where this one ended.
      await ensureSchema(connection, schema);
      const encryption = await planEncryption(connection, tenancy, { known, offered });
      await ensureAccount(this.#client, connection, { schema, user, password, encryption, fenced });
      // Until here an account of the Go Steward's could still make such a thing.
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
      // Access goes first: from here on no credential of the tenant opens anything.
      await dropAccount(connection, user);
      await dropSchema(connection, schema);
      const left = await found(connection, tenancy);
      if (left.length > 0) {
        const text = `tenancy ${schema} is not gone yet: ${left.join(', ')} came back while it was removed`;
        throw new StoreError('Failed', text);
      }
      // The record goes last: a removal that is cut short is still known to be ours.
      await releaseOwnership(connection, tenancy);
    });
  }

  async revoke(tenancy: Tenancy): Promise<void> {
    if (unsafeNames(tenancy) !== undefined) return;
    await this.#client.use(`take tenancy ${tenancy.schema} its access`, async (connection) => {
      const ownership = await readOwnership(connection, tenancy);
      if (ownership.is === 'own') await dropAccount(connection, tenancy.user);
    });
  }

  async data(tenancy: Tenancy): Promise<TenancyData> {
    refuseUnsafeNames(tenancy);
    const connection = await this.#client.dedicated();
    try {
      await requireOwnership(connection, tenancy);
      // In this order: who has no other rights makes nothing after the look at what there is.
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
      const tenants = endpoint === first?.name ? '; tenants are told this one and no other' : '';
      return `${endpoint}: ${explain(error).text}${tenants}`;
    });
  }
}

/** Makes the names this owner's, or throws; returns what is recorded of them. */
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

/** Data is only touched for the owner that is recorded. */
async function requireOwnership(connection: MysqlConnection, tenancy: Tenancy): Promise<void> {
  const ownership = await readOwnership(connection, tenancy);
  if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
  if (ownership.is === 'unrecorded') throw unrecordedError(tenancy, 'MySQL', await found(connection, tenancy));
}

/** What exists under the names, in words. */
async function found(connection: MysqlConnection, { schema, user }: Tenancy): Promise<readonly string[]> {
  const hosts = await hostsOf(connection, user);
  return [
    ...(hosts.length > 0 ? [`user ${user}`] : []),
    ...((await hasSchema(connection, schema)) ? [`database ${schema}`] : []),
  ];
}

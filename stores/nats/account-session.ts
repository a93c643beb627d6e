import type { ServerState, Session, Tenancy, TenancySize } from '../driver.ts';
import { foreignError, unrecordedError } from '../ownership-error.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import { accountFence } from './data/bucket-fence.ts';
import { deleteStream, keepBucket, keepStream, listStreams } from './ensure-bucket.ts';
import { bucketSize } from './bucket-size.ts';
import { bucketWrites } from './bucket-writes.ts';
import { NatsClient } from './client.ts';
import type { AccountAccess, NatsConfig } from './config.ts';
import { failureNote, withStoreErrors, unavailableError } from './errors.ts';
import { isUnsafe, refuseUnsafe } from './names.ts';
import { NatsData } from './data/data.ts';
import { NatsSystem } from './system.ts';
import { isSupportedNats, natsFloor } from './version.ts';
import { onceSettled } from './retry-until-propagated.ts';
import { readOwnership, recordOwnership, releaseOwnership } from './ownership.ts';
import { payloadWarnings } from './payload-warnings.ts';
import { bucketRecords, recordsStream } from './records.ts';
import type { Records } from './records.ts';
import {
  administratorCredentials,
  isFenced,
  registryClaims,
  registryCredentials,
  revokedClaims,
  tenantAccount,
  tenantClaims,
} from './grants.ts';

const systemLogin = 'the user of spec.nats.systemCredentials';

/** An administrative connection to NATS servers in which each tenant has an account of its own. */
export class AccountSession implements Session {
  readonly #config: NatsConfig;
  readonly #access: AccountAccess;
  readonly #client: NatsClient;
  readonly #system: NatsSystem;
  readonly #registry: NatsClient;
  #registryKept: Promise<void> | undefined;

  constructor(config: NatsConfig, access: AccountAccess) {
    this.#config = config;
    this.#access = access;
    this.#client = this.#as(access.systemCredentials, systemLogin);
    this.#system = new NatsSystem(this.#client, access);
    this.#registry = this.#as(registryCredentials(access), 'the registry account');
  }

  async ping(): Promise<ServerState> {
    const answers = await this.#client.endpoints();
    const failures = answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []));
    if (failures.length === answers.length) throw unavailableError(failures, systemLogin);
    const servers = await this.#servers();
    await this.#system.requireResolver();
    if (!servers.some(({ enabled }) => enabled)) {
      throw new StoreError(
        'Unsupported',
        'JetStream is disabled in NATS: add a jetstream block with store_dir to its configuration',
      );
    }
    const lowest = servers.find(({ version }) => !isSupportedNats(version)) ?? servers[0];
    const away = [...new Set(servers.flatMap((server) => server.away))];
    const notes = [
      ...failures.map((failure) => failureNote(failure, systemLogin)),
      ...away.map((server) => `NATS server ${server} is offline, or has not caught up with its peers`),
      ...payloadWarnings(answers),
    ];
    return {
      version: lowest?.version ?? '',
      supported: servers.every(({ version }) => isSupportedNats(version)),
      floor: natsFloor,
      sizeBytes: servers.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
      ...(notes.length > 0 && { notes }),
    };
  }

  async ensure(tenancy: Tenancy): Promise<void> {
    refuseUnsafe(tenancy);
    await this.#claim(tenancy, await this.#records());
    await this.#system.keepAccount(tenantAccount(tenancy.schema), (current) => {
      const fenced = current !== undefined && isFenced(tenancy.schema, current.nats);
      return tenantClaims(this.#access, tenancy, fenced ? 'fenced' : 'open');
    });
    await using account = this.#administrator(tenancy);
    const attempt = `set up bucket ${tenancy.schema}`;
    await withStoreErrors(attempt, () => onceSettled(() => keepBucket(account, tenancy.schema, this.#access.replicas)));
  }

  async remove(tenancy: Tenancy): Promise<void> {
    // Such names are never given a tenancy, so there is none to remove.
    if (isUnsafe(tenancy) && tenancy.adopt !== true) return;
    refuseUnsafe(tenancy);
    const records = await this.#records();
    const ownership = await readOwnership(records, tenancy);
    if (ownership.is === 'foreign') return;
    if (ownership.is === 'unrecorded') {
      if (!(await this.#accountExists(tenancy))) return;
      if (tenancy.adopt !== true) throw unrecordedError(tenancy, 'NATS', [`account ${tenancy.schema}`]);
      await recordOwnership(records, tenancy);
    }
    await this.#requireAllServers(tenancy);
    if (await this.#accountExists(tenancy)) {
      // Access is removed first: from here on, none of the tenant's credentials work.
      const closed = tenantClaims(this.#access, tenancy, 'closed');
      await this.#system.keepAccount(closed.subject, () => closed);
      await this.#deleteStreams(tenancy);
      await this.#system.removeAccount(tenantAccount(tenancy.schema));
    }
    // The records are deleted last, so that an interrupted removal can be continued.
    await releaseOwnership(records, tenancy);
  }

  async revoke(tenancy: Tenancy): Promise<void> {
    if (isUnsafe(tenancy)) return;
    const ownership = await readOwnership(await this.#records(), tenancy);
    if (ownership.is !== 'own' || !(await this.#accountExists(tenancy))) return;
    await this.#system.keepAccount(tenantAccount(tenancy.schema), (current) =>
      revokedClaims(this.#access, tenancy, current),
    );
  }

  async measure(tenancy: Tenancy, signal: AbortSignal): Promise<TenancySize | undefined> {
    if (!(await this.#isThere(tenancy))) return undefined;
    await using account = this.#administrator(tenancy);
    return await withStoreErrors(`measure bucket ${tenancy.schema}`, () => bucketSize(account, tenancy.schema, signal));
  }

  async countWrites(tenancy: Tenancy): Promise<number | undefined> {
    if (!(await this.#isThere(tenancy))) return undefined;
    await using account = this.#administrator(tenancy);
    const { schema } = tenancy;
    return await withStoreErrors(`count the writes to bucket ${schema}`, () => bucketWrites(account, schema));
  }

  async data(tenancy: Tenancy): Promise<TenancyData> {
    refuseUnsafe(tenancy);
    const fence = accountFence(this.#system, tenancy.schema);
    return Promise.resolve(new NatsData(this.#administrator(tenancy), tenancy.schema, fence, true));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#registry[Symbol.asyncDispose]();
  }

  /** Throws OwnedByAnother when another tenancy is. */
  async #isThere(tenancy: Tenancy): Promise<boolean> {
    if (isUnsafe(tenancy)) return false;
    const ownership = await readOwnership(await this.#records(), tenancy);
    if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
    return ownership.is === 'own' && (await this.#accountExists(tenancy));
  }

  #as(credentials: string, loginName: string): NatsClient {
    return new NatsClient({ ...this.#config, login: { credentials }, loginName });
  }

  #administrator({ schema }: Tenancy): NatsClient {
    return this.#as(administratorCredentials(this.#access, schema), `the manager's user in account ${schema}`);
  }

  async #servers() {
    const servers = await this.#system.servers();
    if (servers.length > 0) return servers;
    const help = "use the credentials of a user of the servers' system_account";
    throw new StoreError('Unauthorized', `${systemLogin} does not belong to the system account of NATS: ${help}`);
  }

  /** The registry account and its bucket, created by the first use of a session. */
  async #records(): Promise<Records> {
    this.#registryKept ??= this.#keepRegistry();
    try {
      await this.#registryKept;
    } catch (error) {
      this.#registryKept = undefined;
      throw error;
    }
    return bucketRecords(this.#registry);
  }

  async #keepRegistry(): Promise<void> {
    await this.#servers();
    const claims = registryClaims(this.#access);
    await this.#system.keepAccount(claims.subject, () => claims);
    const stream = recordsStream(this.#access.replicas);
    await withStoreErrors('set up the registry of owners', () => onceSettled(() => keepStream(this.#registry, stream)));
  }

  async #claim(tenancy: Tenancy, records: Records): Promise<void> {
    const before = await readOwnership(records, tenancy);
    if (before.is === 'foreign') throw foreignError(tenancy, before);
    if (before.is === 'own' && before.whole) return;
    if (before.is === 'unrecorded' && tenancy.adopt !== true && (await this.#accountExists(tenancy))) {
      throw unrecordedError(tenancy, 'NATS', [`account ${tenancy.schema}`]);
    }
    await recordOwnership(records, tenancy);
  }

  async #accountExists({ schema }: Tenancy): Promise<boolean> {
    return (await this.#system.account(tenantAccount(schema))).some((known) => known !== undefined);
  }

  /** A server that is offline now would restore the account when it is online again. */
  async #requireAllServers({ schema }: Tenancy): Promise<void> {
    const [first] = (await this.#servers()).flatMap((server) => server.away);
    if (first === undefined) return;
    throw new StoreError(
      'Unreachable',
      `NATS server ${first} is offline and still has account ${schema}: waiting for it to come back, or to be removed from the cluster`,
    );
  }

  async #deleteStreams(tenancy: Tenancy): Promise<void> {
    await using account = this.#administrator(tenancy);
    await withStoreErrors(`empty account ${tenancy.schema}`, async () => {
      for (const stream of await listStreams(account)) await deleteStream(account, stream);
    });
  }
}

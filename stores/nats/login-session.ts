import type { ServerState, Session, Tenancy, TenancySize } from '../driver.ts';
import { foreignError, unrecordedError } from '../ownership-error.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import { bucketStreamName, kineDescription } from './data/bucket.ts';
import { streamFence } from './data/bucket-fence.ts';
import { deleteStream, keepBucket, keepStream, listStreams, readBucket } from './ensure-bucket.ts';
import { otherWhoKnows, rememberLogin } from './login-registry.ts';
import { bucketSize } from './bucket-size.ts';
import { bucketWrites } from './bucket-writes.ts';
import { NatsClient } from './client.ts';
import type { LoginAccess, NatsConfig } from './config.ts';
import { NatsData } from './data/data.ts';
import { failureNote, isUnanswered, JetStreamRefusal, withStoreErrors, unavailableError } from './errors.ts';
import { isUnsafe, recordsBucket, refuseUnsafe } from './names.ts';
import { isSupportedNats, natsFloor } from './version.ts';
import { payloadWarnings } from './payload-warnings.ts';
import { bucketRecords, isOf, recordsStream } from './records.ts';
import type { OwnershipRecord, Records } from './records.ts';

/** kine's own number, as its users have it. */
const replicas = 1;
const recordKey = 'tenancy';

/**
 * An administrative connection to a NATS with a single set of credentials, which the tenant uses as well. They give access
 * to everything, so there is one tenant at a time, and after its removal none of another owner until the credentials are
 * changed.
 */
export class LoginSession implements Session {
  readonly #client: NatsClient;
  readonly #records: Records;
  readonly #loginName: string;
  /** The full credentials; must not be logged. */
  readonly #login: string;

  constructor(config: NatsConfig, login: LoginAccess) {
    this.#loginName = login.user === undefined ? 'spec.tlsConfig.clientCertificate' : 'spec.basicAuth';
    this.#login = JSON.stringify(login.user === undefined ? [config.tls?.client?.key] : [login.user, login.password]);
    this.#client = new NatsClient({ ...config, login, loginName: this.#loginName });
    this.#records = bucketRecords(this.#client);
  }

  async ping(): Promise<ServerState> {
    const answers = await this.#client.endpoints();
    const alive = answers.filter((answer) => 'version' in answer);
    const failures = answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []));
    if (alive.length === 0) throw unavailableError(failures, this.#loginName);
    const sizeBytes = await this.#storedBytes();
    const lowest = alive.find(({ version }) => !isSupportedNats(version)) ?? alive[0];
    const notes = [...failures.map((failure) => failureNote(failure, this.#loginName)), ...payloadWarnings(answers)];
    return {
      version: lowest?.version ?? '',
      supported: alive.every(({ version }) => isSupportedNats(version)),
      floor: natsFloor,
      sizeBytes,
      ...(notes.length > 0 && { notes }),
    };
  }

  async ensure(tenancy: Tenancy): Promise<void> {
    refuseUnsafe(tenancy);
    await withStoreErrors(`set up bucket ${tenancy.schema}`, async () => {
      await this.#claim(tenancy, () => this.#refuseKnownLogin(tenancy));
      await keepBucket(this.#client, tenancy.schema, replicas);
    });
  }

  async remove(tenancy: Tenancy): Promise<void> {
    // Such names are never given a tenancy, so there is none to remove.
    if (isUnsafe(tenancy) && tenancy.adopt !== true) return;
    refuseUnsafe(tenancy);
    await withStoreErrors(`remove bucket ${tenancy.schema}`, async () => {
      const held = await this.#records.read(recordKey);
      if (held !== undefined && !isOf(held, tenancy)) return;
      if (held === undefined) {
        if ((await readBucket(this.#client, tenancy.schema)) === undefined) return;
        if (tenancy.adopt !== true) throw unrecordedError(tenancy, 'NATS', [`bucket ${tenancy.schema}`]);
        await this.#claim(tenancy);
      }
      await deleteStream(this.#client, bucketStreamName(tenancy.schema));
      await rememberLogin(this.#client, this.#login, tenancy.owner);
      // The record is deleted last, so that an interrupted removal can be continued.
      await this.#records.forget(recordKey);
    });
  }

  async measure(tenancy: Tenancy, signal: AbortSignal): Promise<TenancySize | undefined> {
    return withStoreErrors(`measure bucket ${tenancy.schema}`, async () => {
      return (await this.#isRecorded(tenancy)) ? bucketSize(this.#client, tenancy.schema, signal) : undefined;
    });
  }

  async countWrites(tenancy: Tenancy): Promise<number | undefined> {
    return withStoreErrors(`count the writes to bucket ${tenancy.schema}`, async () => {
      return (await this.#isRecorded(tenancy)) ? bucketWrites(this.#client, tenancy.schema) : undefined;
    });
  }

  async data({ schema }: Tenancy): Promise<TenancyData> {
    const fence = streamFence(this.#client, schema, replicas);
    return Promise.resolve(new NatsData(this.#client, schema, fence, false));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  /** Throws OwnedByAnother when another tenancy is. */
  async #isRecorded(tenancy: Tenancy): Promise<boolean> {
    const held = await this.#records.read(recordKey);
    if (held !== undefined && !isOf(held, tenancy)) throw foreignError(tenancy, { is: 'foreign', owner: held.owner });
    return held !== undefined;
  }

  async #storedBytes(): Promise<number> {
    try {
      return (await this.#client.api<{ storage: number }>('read the used storage', 'INFO')).storage;
    } catch (error) {
      if (!isUnanswered(error) && !(error instanceof JetStreamRefusal)) throw error;
      const help = 'add a jetstream block with store_dir to the configuration of the server';
      throw new StoreError('Unsupported', `JetStream is disabled in NATS for the user of the DataStore: ${help}`);
    }
  }

  async #claim(tenancy: Tenancy, refuse?: () => Promise<void>): Promise<void> {
    await keepStream(this.#client, recordsStream(replicas));
    const held = await this.#records.read(recordKey);
    if (held !== undefined) {
      refuseSecond(tenancy, held);
      return;
    }
    await this.#refuseUnrecorded(tenancy);
    await refuse?.();
    const { owner, schema, user } = tenancy;
    if (await this.#records.create(recordKey, { owner, schema, user })) return;
    const winner = await this.#records.read(recordKey);
    if (winner !== undefined) refuseSecond(tenancy, winner);
  }

  /** The credentials are in the tenant's namespace, where its author can read them. */
  async #refuseKnownLogin({ owner }: Tenancy): Promise<void> {
    const other = await otherWhoKnows(this.#client, this.#login, owner);
    if (other === undefined) return;
    const seen = `the removed tenant whose owner has UID ${other} has had the credentials of this NATS, with which it could read the data of the next one`;
    const help = `change the credentials in the server and in the DataStore (${this.#loginName}), then the next tenant is served`;
    throw new StoreError('SingleTenant', `${seen}: ${help}`);
  }

  /** Refuses buckets that kine created before owners were recorded. */
  async #refuseUnrecorded(tenancy: Tenancy): Promise<void> {
    for (const stream of await listStreams(this.#client)) {
      const bucket = stream.replace(/^KV_/, '');
      if (bucket === tenancy.schema) {
        if (tenancy.adopt !== true) throw unrecordedError(tenancy, 'NATS', [`bucket ${bucket}`]);
      } else if (stream.startsWith('KV_') && bucket !== recordsBucket) {
        const info = await readBucket(this.#client, bucket);
        if (info?.config.description === kineDescription) throw singleTenantError(`bucket ${bucket} of kine`);
      }
    }
  }
}

function refuseSecond(tenancy: Tenancy, held: OwnershipRecord): void {
  if (isOf(held, tenancy)) return;
  throw singleTenantError(`the tenant whose owner has UID ${held.owner} (schema ${held.schema})`);
}

function singleTenantError(holder: string): StoreError {
  const help =
    'a second tenant needs a NATS with accounts (a DataStore with spec.nats.operatorKey) or a DataStore of its own';
  return new StoreError(
    'SingleTenant',
    `this NATS has a single set of credentials, so every tenant could read every other, and it serves ${holder}: ${help}`,
  );
}

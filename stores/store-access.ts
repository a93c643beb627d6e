import type { DataStore } from '../api/steward/v1alpha1/data-store.ts';
import type { ClientTls, Driver, DriverCapabilities, ReadSecret, Session, StoreBinding, Tenancy } from './driver.ts';
import { verifyIsolation } from './isolation/verify-isolation.ts';
import type { IsolationVerdict, VerificationRequest } from './isolation/verify-isolation.ts';
import type { Sessions } from './sessions.ts';
import { StoreError } from './store-error.ts';

/** A DataStore whose credentials were read and checked. Its methods throw `StoreError`. */
export interface OpenStore {
  readonly driver: Driver['name'];
  readonly capabilities: DriverCapabilities;
  /** Over endpoints and credentials. */
  readonly checksum: string;
  bind(tenancy: Tenancy): StoreBinding;
  clientTls(tenancy: Tenancy, current: ClientTls | undefined, now: Date): Promise<ClientTls | undefined>;
  /**
   * Lends the shared administrative connection. If the datastore was just found not to answer, the same error is thrown at once. The signal
   * given to `open` ends the wait for a connection.
   */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Like `use`, but always tries the datastore: the result decides for other users. */
  probe<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Proves with two canary tenancies that the datastore isolates tenants; see `verifyIsolation`. */
  verifyIsolation(request: Pick<VerificationRequest<unknown>, 'id' | 'clock' | 'signal'>): Promise<IsolationVerdict>;
}

/** Several DataStores of a tenant whose client has one certificate. Its methods throw `StoreError`. */
export interface OpenStores {
  /** In the order in which they were named. */
  readonly stores: readonly OpenStore[];
  /** One set of credentials that all of them accept. */
  clientTls(tenancy: Tenancy, current: ClientTls | undefined, now: Date): Promise<ClientTls>;
}

interface Configured {
  readonly driver: Driver;
  readonly config: unknown;
}

/** What is needed to open DataStores. */
export interface StoreAccessOptions {
  /** The supported drivers. */
  readonly drivers: readonly Driver[];
  readonly sessions: Sessions;
  readonly read: ReadSecret;
}

/** Opens DataStores for controllers, which know neither drivers nor connections. */
export class StoreAccess {
  readonly #drivers: ReadonlyMap<string, Driver>;
  readonly #sessions: Sessions;
  readonly #read: ReadSecret;

  constructor(options: StoreAccessOptions) {
    this.#drivers = new Map(options.drivers.map((driver) => [driver.name, driver]));
    this.#sessions = options.sessions;
    this.#read = options.read;
  }

  /** What the driver of this name is capable of; undefined for an unknown one. */
  capabilities(driver: string): DriverCapabilities | undefined {
    return this.#drivers.get(driver)?.capabilities;
  }

  /**
   * Reads the credentials without connecting. Throws `StoreError` Unsupported for an unknown driver, and
   * CredentialsMissing or CredentialsInvalid naming the fields.
   */
  async open(store: DataStore, signal: AbortSignal): Promise<OpenStore> {
    return this.#opened(await this.#configure(store, signal), signal);
  }

  /**
   * Like `open`, for datastores of one driver that a client uses with one certificate. Errors name the DataStore. Throws `StoreError`
   * Unsupported when the drivers differ or do not support that.
   */
  async openTogether(stores: readonly [DataStore, ...DataStore[]], signal: AbortSignal): Promise<OpenStores> {
    const [first, ...others] = stores;
    const main = await this.#configure(first, signal);
    const rest = await Promise.all(others.map((store) => namingStore(store, this.#configure(store, signal))));
    const { driver } = main;
    if (driver.sharedClientTls === undefined || rest.some((other) => other.driver !== driver)) {
      const names = stores.map(({ metadata, spec }) => `${metadata.name} (driver ${spec.driver})`).join(', ');
      const text = `no single client certificate is valid for all of ${names}: use DataStores with driver etcd`;
      throw new StoreError('Unsupported', text);
    }
    const configs = [main.config, ...rest.map(({ config }) => config)] as const;
    const shared = driver.sharedClientTls.bind(driver);
    return {
      stores: [main, ...rest].map((configured) => this.#opened(configured, signal)),
      clientTls: (tenancy, current, now) => shared(configs, tenancy, current, now),
    };
  }

  async #configure(store: DataStore, signal: AbortSignal): Promise<Configured> {
    const driver = this.#drivers.get(store.spec.driver);
    if (driver === undefined) {
      const known = [...this.#drivers.keys()].join(', ');
      throw new StoreError(
        'Unsupported',
        `spec.driver ${store.spec.driver} is not supported by this version: use one of ${known}`,
      );
    }
    signal.throwIfAborted();
    return { driver, config: await driver.configure(store, this.#read) };
  }

  #opened({ driver, config }: Configured, signal: AbortSignal): OpenStore {
    return {
      driver: driver.name,
      capabilities: driver.capabilities,
      checksum: driver.checksum(config),
      bind: (tenancy) => driver.bind(config, tenancy),
      clientTls: (tenancy, current, now) => driver.clientTls(config, tenancy, current, now),
      use: (work) => this.#sessions.use(driver, config, work, { signal }),
      probe: (work) => this.#sessions.use(driver, config, work, { signal, probe: true }),
      verifyIsolation: (request) => {
        const verify = (session: Session) => verifyIsolation({ ...request, driver, config, session });
        return this.#sessions.use(driver, config, verify, { signal, probe: true });
      },
    };
  }
}

/** Adds the name of the DataStore to the error of `work`. */
export async function namingStore<T>({ metadata }: Pick<DataStore, 'metadata'>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new StoreError(error.reason, `DataStore ${metadata.name}: ${error.message}`, { cause: error });
  }
}

import type { DataStore } from '../api/steward/v1alpha1/data-store.ts';
import type { ClientTls, Driver, ReadSecret, Session, StoreBinding, Tenancy } from './driver.ts';
import type { Sessions } from './sessions.ts';
import { StoreError } from './store-error.ts';

/** A DataStore whose credentials were read and checked. Its methods throw `StoreError`. */
export interface OpenStore {
  readonly driver: Driver['name'];
  /** True when a tenancy must carry a password. */
  readonly passwords: boolean;
  /** Over endpoints and credentials. */
  readonly checksum: string;
  bind(tenancy: Tenancy): StoreBinding;
  clientTls(tenancy: Tenancy, current: ClientTls | undefined, now: Date): Promise<ClientTls | undefined>;
  /**
   * Lends the shared administrative connection. A store that was just found not to answer is not asked: the same error is
   * thrown at once. The signal given to `open` ends the wait for a connection.
   */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** As `use`, and asks in any case: what it comes to decides for the others. */
  probe<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** Several DataStores whose tenant has one client with one certificate. Its methods throw `StoreError`. */
export interface OpenStores {
  /** In the order in which they were named. */
  readonly stores: readonly OpenStore[];
  /** One set of credentials that opens all of them. */
  clientTls(tenancy: Tenancy, current: ClientTls | undefined, now: Date): Promise<ClientTls>;
}

interface Configured {
  readonly driver: Driver;
  readonly config: unknown;
}

/** With what DataStores are opened. */
export interface StoreAccessOptions {
  /** The drivers that there are. */
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

  /**
   * Reads the credentials; dials nothing. Throws `StoreError` Unsupported for a driver that is not there, and
   * CredentialsMissing or CredentialsInvalid naming the fields.
   */
  async open(store: DataStore, signal: AbortSignal): Promise<OpenStore> {
    return this.#opened(await this.#configure(store, signal), signal);
  }

  /**
   * As `open`, for stores of one driver that a client uses with one certificate. Errors name the DataStore. Throws `StoreError`
   * Unsupported when their drivers differ or have no such certificates.
   */
  async openTogether(stores: readonly [DataStore, ...DataStore[]], signal: AbortSignal): Promise<OpenStores> {
    const [first, ...others] = stores;
    const main = await this.#configure(first, signal);
    const rest = await Promise.all(others.map((store) => namingStore(store, this.#configure(store, signal))));
    const { driver } = main;
    if (driver.sharedClientTls === undefined || rest.some((other) => other.driver !== driver)) {
      const names = stores.map(({ metadata, spec }) => `${metadata.name ?? ''} (driver ${spec.driver})`).join(', ');
      throw new StoreError('Unsupported', `no one certificate opens all of ${names}: use DataStores with driver etcd`);
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
      passwords: driver.passwords,
      checksum: driver.checksum(config),
      bind: (tenancy) => driver.bind(config, tenancy),
      clientTls: (tenancy, current, now) => driver.clientTls(config, tenancy, current, now),
      use: (work) => this.#sessions.use(driver, config, work, { signal }),
      probe: (work) => this.#sessions.use(driver, config, work, { signal, probe: true }),
    };
  }
}

/** The error of `work` with the DataStore that it is about. */
export async function namingStore<T>({ metadata }: Pick<DataStore, 'metadata'>, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new StoreError(error.reason, `DataStore ${metadata.name ?? ''}: ${error.message}`, { cause: error });
  }
}

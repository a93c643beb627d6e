import type { Connection } from 'mysql2/promise';
import type { Tenancy } from '../../../../stores/driver.ts';
import type {
  NamesOfServer,
  PlantedFault,
  RotatingAdministrator,
  StoreUnderTest,
} from '../../../../stores/contract/driver-contract.ts';
import { mysqlDriver } from '../../../../stores/mysql/driver.ts';
import type { MysqlConfig } from '../../../../stores/mysql/driver.ts';
import { account, literal } from '../../../../stores/mysql/sql.ts';
import { startMysqlDataStore } from './data-store.ts';
import type { MysqlDataStore } from './data-store.ts';
import { serverCa } from '../../../servers/server-certificates.ts';
import { dumpMysql, namesOfMysql } from './dump.ts';
import { administratorLogin, asAdministrator } from './as-administrator.ts';
import { rawMysql } from '../../../../stores/mysql/isolation/raw-client.ts';
import { halfMadeTenancies, makeAsGoSteward, plantedFaults } from './states.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);
const nowhere = { name: 'localhost:1', host: 'localhost', port: 1 };

/** A real MariaDB or MySQL, as the contract of drivers needs it. */
class MysqlUnderTest implements StoreUnderTest<MysqlConfig> {
  readonly driver = mysqlDriver;
  readonly config: MysqlConfig;
  readonly halfMade: StoreUnderTest<MysqlConfig>['halfMade'];
  readonly plantedFaults: readonly PlantedFault[];
  readonly #store: MysqlDataStore;
  #administrators = 0;

  constructor(store: MysqlDataStore, config: MysqlConfig) {
    this.#store = store;
    this.config = config;
    this.halfMade = halfMadeTenancies(config);
    this.plantedFaults = plantedFaults(config);
  }

  dump(): Promise<readonly string[]> {
    return this.#asking(dumpMysql);
  }

  names(): Promise<NamesOfServer> {
    return this.#asking(namesOfMysql);
  }

  makeUnrecorded(tenancy: Tenancy): Promise<void> {
    return makeAsGoSteward(this.config, tenancy);
  }

  async unusable(): ReturnType<StoreUnderTest<MysqlConfig>['unusable']> {
    const { config } = this;
    const { tls } = config;
    const nameless = { ...config, endpoints: [{ name: 'mysql.invalid:3306', host: 'mysql.invalid', port: 3306 }] };
    const powerless = await this.#newAdministrator('GRANT SELECT, CREATE, CREATE USER ON *.*');
    const foreign = await serverCa('another-ca');
    return [
      { name: 'nobody listens', config: { ...config, endpoints: [nowhere] }, reason: 'Unreachable' },
      { name: 'no such name', config: nameless, reason: 'Unreachable' },
      { name: 'a wrong password', config: { ...config, password: 'wrong' }, reason: 'Unauthorized' },
      { name: 'an unknown user', config: { ...config, username: 'nobody' }, reason: 'Unauthorized' },
      { name: 'an account without the rights', config: powerless, reason: 'Unauthorized' },
      ...(tls === undefined
        ? []
        : [
            {
              name: 'a server of another CA',
              config: { ...config, tls: { ca: foreign.certificate } },
              reason: 'Unauthorized',
            },
          ]),
    ];
  }

  withDeadEndpoint(): MysqlConfig {
    return { ...this.config, endpoints: [nowhere, ...this.config.endpoints] };
  }

  async rotatingAdministrator(): Promise<RotatingAdministrator<MysqlConfig>> {
    const config = await this.#newAdministrator('GRANT ALL PRIVILEGES ON *.*');
    return {
      config,
      rotate: async () => {
        const password = `${config.password}-rotated`;
        await asAdministrator(this.config, `ALTER USER ${account(config.username)} IDENTIFIED BY ${literal(password)}`);
        return { ...config, password };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }

  async #newAdministrator(grant: string): Promise<MysqlConfig> {
    this.#administrators += 1;
    const login = { username: `operator-${this.#administrators}`, password: 'it\'s a \\ "secret"' };
    const name = account(login.username);
    await asAdministrator(
      this.config,
      `CREATE USER ${name} IDENTIFIED BY ${literal(login.password)}`,
      `${grant} TO ${name} WITH GRANT OPTION`,
    );
    return { ...this.config, ...login };
  }

  async #asking<T>(ask: (client: Connection) => Promise<T>): Promise<T> {
    const client = await rawMysql(this.config, administratorLogin(this.config));
    try {
      return await ask(client);
    } finally {
      client.destroy();
    }
  }
}

/** Starts MariaDB, or takes the server that `STEWARD_TEST_MYSQL` names, for `describeDriver`. */
export async function startMysqlUnderTest(options: { readonly tls: boolean }): Promise<StoreUnderTest<MysqlConfig>> {
  const store = await startMysqlDataStore(options);
  try {
    const config = await mysqlDriver.configure(store.dataStore, noSecrets);
    // The place for the records of owners is made by the first tenancy; every dump has it then.
    await using session = await mysqlDriver.open(config, new AbortController().signal);
    const first = { schema: 'first', user: 'first', owner: 'first', password: 'first' };
    await session.ensure(first);
    await session.remove(first);
    return new MysqlUnderTest(store, config);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

import { issue } from '../../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import type { Tenancy } from '../../../../stores/driver.ts';
import type {
  NamesOfServer,
  PlantedFault,
  RotatingAdministrator,
  StoreUnderTest,
} from '../../../../stores/contract/driver-contract.ts';
import type { LoginConfig } from '../../../../stores/login-config.ts';
import { quoted } from '../../../../stores/postgres/connection.ts';
import { postgresDriver } from '../../../../stores/postgres/driver.ts';
import { describePostgres } from './data-store.ts';
import { startPostgres } from '../../../servers/postgres-server.ts';
import type { PostgresOptions, PostgresServer } from '../../../servers/postgres-server.ts';
import { clientPair, serverCa } from '../../../servers/server-certificates.ts';
import { dumpPostgres, namesOfPostgres } from './dump.ts';
import { halfMadeTenancies, makeAsGoSteward, plantedFaults } from './states.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);
const nowhere = { name: 'localhost:1', host: 'localhost', port: 1 };

/** A real PostgreSQL, as the contract of drivers needs it. */
export class PostgresUnderTest implements StoreUnderTest<LoginConfig> {
  readonly driver = postgresDriver;
  readonly config: LoginConfig;
  readonly server: PostgresServer;
  readonly halfMade: StoreUnderTest<LoginConfig>['halfMade'];
  readonly plantedFaults: readonly PlantedFault[];
  #count = 0;

  constructor(server: PostgresServer, config: LoginConfig, limited: boolean) {
    this.server = server;
    this.config = config;
    this.halfMade = halfMadeTenancies(config, limited);
    this.plantedFaults = plantedFaults(config, limited);
  }

  dump(): Promise<readonly string[]> {
    return dumpPostgres(this.server);
  }

  names(): Promise<NamesOfServer> {
    return namesOfPostgres(this.server);
  }

  makeUnrecorded(tenancy: Tenancy): Promise<void> {
    return makeAsGoSteward(this.config, tenancy);
  }

  async unusable(): ReturnType<StoreUnderTest<LoginConfig>['unusable']> {
    const { config } = this;
    const nameless = { ...config, endpoints: [{ name: 'db.invalid:5432', host: 'db.invalid', port: 5432 }] };
    const powerless = await this.#newLogin('');
    return [
      { name: 'nobody listens', config: { ...config, endpoints: [nowhere] }, reason: 'Unreachable' },
      { name: 'no such name', config: nameless, reason: 'Unreachable' },
      { name: 'a wrong password', config: { ...config, password: 'wrong' }, reason: 'Unauthorized' },
      { name: 'an unknown user', config: { ...config, username: 'nobody' }, reason: 'Unauthorized' },
      { name: 'a login without the rights', config: powerless, reason: 'Unauthorized' },
      { name: 'half the rights', config: await this.#newLogin('CREATEDB'), reason: 'Unauthorized' },
      ...(await this.#unusableTls()),
    ];
  }

  withDeadEndpoint(): LoginConfig {
    return { ...this.config, endpoints: [nowhere, ...this.config.endpoints] };
  }

  async rotatingAdministrator(): Promise<RotatingAdministrator<LoginConfig>> {
    const config = await this.#newLogin('SUPERUSER');
    return {
      config,
      rotate: async () => {
        const password = `${config.password}-rotated`;
        await this.server.sql(`ALTER ROLE ${quoted.name(config.username)} PASSWORD ${quoted.text(password)}`);
        return { ...config, password };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }

  async #unusableTls(): ReturnType<StoreUnderTest<LoginConfig>['unusable']> {
    const { config } = this;
    const { tls, ...plain } = config;
    const foreign = await serverCa('another-ca');
    const reason = 'Unauthorized';
    if (tls === undefined) {
      return [{ name: 'TLS where there is none', config: { ...config, tls: { ca: foreign.certificate } }, reason }];
    }
    const withClient = (client: KeyPair): LoginConfig => ({ ...config, tls: { ...tls, client } });
    const bare = { ca: tls.ca, signer: tls.signer };
    return [
      { name: 'a server of another CA', config: { ...config, tls: { ...tls, ca: foreign.certificate } }, reason },
      { name: 'no TLS where it is asked for', config: plain, reason },
      { name: 'no client certificate where one is asked for', config: { ...config, tls: bare }, reason },
      { name: 'a client of another CA', config: withClient(await clientPair(foreign, config.username)), reason },
      { name: 'an expired client', config: withClient(await this.#expired()), reason },
    ];
  }

  async #expired(): Promise<KeyPair> {
    const { ca } = this.server;
    if (ca === undefined) throw new Error('the server has no CA');
    const day = 24 * 60 * 60 * 1000;
    const lifetime = { notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() - 1000) };
    const profile = { commonName: this.config.username, usages: ['clientAuth'] } as const;
    return issue(profile, ca, { algorithm: 'ECDSA-P256', lifetime });
  }

  async #newLogin(options: string): Promise<LoginConfig> {
    this.#count += 1;
    const [username, password] = [`operator_${this.#count}`, `password of ${this.#count}`];
    await this.server.sql(`CREATE ROLE ${username} LOGIN ${options} PASSWORD ${quoted.text(password)}`);
    return { ...this.config, username, password };
  }
}

/** How the operator administers the server under test. */
export interface PostgresUnderTestOptions extends PostgresOptions {
  /** The operator is no superuser, but may make databases and roles. */
  readonly limited?: boolean;
}

/** Starts PostgreSQL for `describeDriver`. */
export async function startPostgresUnderTest(options: PostgresUnderTestOptions = {}): Promise<PostgresUnderTest> {
  const server = await startPostgres(options);
  const { ca } = server;
  const limited = options.limited === true;
  const login = limited
    ? { username: 'operator', password: 'of limited rights' }
    : { username: server.user, password: server.password };
  if (limited) {
    await server.sql(`CREATE ROLE operator LOGIN CREATEDB CREATEROLE PASSWORD ${quoted.text(login.password)}`);
  }
  const dataStore = describePostgres({
    ...login,
    endpoints: [`127.0.0.1:${server.port}`],
    ca,
    ...(options.clientCertificates === true && ca && { caKey: ca.key, client: await clientPair(ca, login.username) }),
  });
  return new PostgresUnderTest(server, await postgresDriver.configure(dataStore, noSecrets), limited);
}

import type { Client } from 'pg';
import { issue } from '../../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import type { Tenancy } from '../../../../stores/driver.ts';
import type {
  Attempt,
  NamesOfServer,
  PlantedFault,
  RotatingAdministrator,
  StoreUnderTest,
  Tenant,
  TenantHand,
} from '../../../../stores/contract/driver-contract.ts';
import type { LoginConfig } from '../../../../stores/login-config.ts';
import { quoted } from '../../../../stores/postgres/connection.ts';
import { postgresDriver } from '../../../../stores/postgres/driver.ts';
import { sqlState } from '../../../../stores/postgres/errors.ts';
import { describePostgres } from './data-store.ts';
import { startPostgres } from '../../../servers/postgres-server.ts';
import type { PostgresOptions, PostgresServer } from '../../../servers/postgres-server.ts';
import { clientPair, serverCa } from '../../../servers/server-certificates.ts';
import { administrationAttacks, isPostgresRefusal, loginAttacks, serverAttacks } from './attacks.ts';
import { dumpPostgres, namesOfPostgres } from './dump.ts';
import { rawPostgres } from './raw-client.ts';
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
  readonly #opened: Client[] = [];
  #count = 0;

  constructor(server: PostgresServer, config: LoginConfig, limited: boolean) {
    this.server = server;
    this.config = config;
    this.halfMade = halfMadeTenancies(config, limited);
    this.plantedFaults = plantedFaults(config, limited);
  }

  async connect(tenant: Tenant): Promise<TenantHand> {
    const client = await rawPostgres(this.config, tenant);
    const columns =
      'id bigserial PRIMARY KEY, name text, created int, deleted int, create_revision bigint, prev_revision bigint';
    return {
      read: async (key) => {
        try {
          const newest = 'SELECT value FROM kine WHERE name = $1 ORDER BY id DESC LIMIT 1';
          const { rows } = await client.query<{ value: Buffer }>(newest, [`/registry/${key}`]);
          return rows[0]?.value.toString();
        } catch (error) {
          // kine has not made its table yet.
          if (sqlState(error) === '42P01') return undefined;
          throw error;
        }
      },
      write: async (key, value) => {
        await client.query(`CREATE TABLE IF NOT EXISTS kine (${columns}, lease int, value bytea, old_value bytea)`);
        await client.query('INSERT INTO kine (name, created, deleted, lease, value) VALUES ($1, 1, 0, 0, $2)', [
          `/registry/${key}`,
          Buffer.from(value),
        ]);
      },
      [Symbol.asyncDispose]: () => client.end(),
    };
  }

  async attacks(attacker: Tenant, victim: Tenant): Promise<readonly Attempt[]> {
    await this.#closeAll();
    this.#count += 1;
    const secret = `secret-of-the-victim-${this.#count}`;
    const client = await this.#openedLonger(attacker);
    // One of the planted faults is that both have the attacker's password.
    const victims = await this.#openedLonger(victim).catch(() =>
      this.#openedLonger({ ...victim, tenancy: { ...victim.tenancy, ...passwordOf(attacker) } }),
    );
    const { rows } = await victims.query<{ pid: number }>(`SELECT pg_backend_pid() AS pid, '${secret}' AS secret`);
    const attack = { config: this.config, client, attacker, victim, victimProcess: rows[0]?.pid ?? 0, secret };
    return [...loginAttacks(attack), ...administrationAttacks(attack), ...serverAttacks(attack)];
  }

  isRefusal(error: unknown): boolean {
    return isPostgresRefusal(error);
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
    await this.#closeAll();
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

  async #openedLonger(tenant: Tenant): Promise<Client> {
    const client = await rawPostgres(this.config, tenant);
    this.#opened.push(client);
    return client;
  }

  async #closeAll(): Promise<void> {
    for (const client of this.#opened.splice(0)) await client.end();
  }
}

function passwordOf({ tenancy: { password } }: Tenant): Pick<Tenancy, 'password'> {
  return password === undefined ? {} : { password };
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

import type { Tenancy } from '../../../../stores/driver.ts';
import type {
  NamesOfServer,
  PlantedFault,
  RotatingAdministrator,
  StoreUnderTest,
} from '../../../../stores/contract/driver-contract.ts';
import { userIssuedAt } from '../../../../stores/nats/credentials-file.ts';
import type { AccountAccess, NatsConfig } from '../../../../stores/nats/config.ts';
import { natsDriver } from '../../../../stores/nats/driver.ts';
import { operatorKeys, systemAccountJwt, systemCredentials, systemUser } from '../../../../stores/nats/operator.ts';
import { startNatsDataStore } from './data-store.ts';
import type { NatsDataStore } from './data-store.ts';
import type { NatsOptions } from '../../../servers/nats-server.ts';
import { serverCa } from '../../../servers/server-certificates.ts';
import { NatsOverview } from './overview.ts';
import { plantedFaults } from './planted-faults.ts';
import { halfMadeStates } from './states.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);

/** A real NATS with accounts, as the contract of drivers needs it. */
class NatsUnderTest implements StoreUnderTest<NatsConfig> {
  readonly driver = natsDriver;
  readonly config: NatsConfig;
  readonly halfMade: StoreUnderTest<NatsConfig>['halfMade'];
  readonly plantedFaults: readonly PlantedFault[];
  readonly #store: NatsDataStore;
  readonly #access: AccountAccess;
  readonly #overview: NatsOverview;
  readonly #revoked: Record<string, number> = {};
  #administrators = 0;

  constructor(store: NatsDataStore, config: NatsConfig, access: AccountAccess) {
    this.#store = store;
    this.config = config;
    this.#access = access;
    this.#overview = new NatsOverview(config, access);
    this.halfMade = halfMadeStates(this.#overview);
    this.plantedFaults = plantedFaults(this.#overview);
  }

  dump(): Promise<readonly string[]> {
    return this.#overview.dump();
  }

  names(): Promise<NamesOfServer> {
    return this.#overview.names();
  }

  async makeUnrecorded(tenancy: Tenancy): Promise<void> {
    await this.#overview.makeAccount(tenancy);
    await this.#overview.makeBucket(tenancy);
  }

  async unusable(): ReturnType<StoreUnderTest<NatsConfig>['unusable']> {
    const { config } = this;
    const { tls, ...plain } = config;
    const foreign = operatorKeys(Buffer.alloc(32, 1));
    const with_ = (more: Partial<AccountAccess>): NatsConfig => ({ ...config, access: { ...this.#access, ...more } });
    const strangers = { ...config, tls: { ca: (await serverCa('another-ca')).certificate } };
    return [
      { name: 'nobody listens', config: { ...config, endpoints: ['localhost:1'] }, reason: 'Unreachable' },
      { name: 'no such name', config: { ...config, endpoints: ['nats.invalid:4222'] }, reason: 'Unreachable' },
      {
        name: 'a user of another account',
        config: with_({ systemCredentials: this.#overview.registryCredentials }),
        reason: 'Unauthorized',
      },
      {
        name: 'a user of another operator',
        config: with_({ systemCredentials: systemCredentials(foreign) }),
        reason: 'Unauthorized',
      },
      {
        name: 'the key of another operator',
        config: with_({ operatorSeed: foreign.signing.seed }),
        reason: 'Unauthorized',
      },
      {
        name: 'an identity where a signing key is asked for',
        config: with_({ operatorSeed: this.#store.server.keys.operator.seed }),
        reason: 'Unauthorized',
      },
      ...(tls === undefined
        ? []
        : [
            { name: 'a server of another CA', config: strangers, reason: 'Unauthorized' },
            { name: 'a server with TLS, unexpectedly', config: plain, reason: 'Unauthorized' },
          ]),
    ];
  }

  withDeadEndpoint(): NatsConfig {
    return { ...this.config, endpoints: ['localhost:1', ...this.config.endpoints] };
  }

  async rotatingAdministrator(): Promise<RotatingAdministrator<NatsConfig>> {
    const { keys } = this.#store.server;
    const add = (): readonly [name: string, config: NatsConfig] => {
      this.#administrators += 1;
      const name = `operator-${this.#administrators}`;
      const access = { ...this.#access, systemCredentials: systemCredentials(keys, name) };
      return [name, { ...this.config, access }];
    };
    const [first, config] = add();
    return Promise.resolve({
      config,
      rotate: async () => {
        const [, rotated] = add();
        this.#revoked[systemUser(keys, first).publicKey] = userIssuedAt;
        await this.#overview.pushJwt(systemAccountJwt(keys, this.#revoked));
        return rotated;
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#overview[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }
}

/** An unknown account is looked up at servers that do not exist, so the wait can be short. */
const impatient = (config: string): string => config.replace('allow_delete', 'timeout: "200ms"\n  allow_delete');

/** Starts NATS with accounts for `describeDriver`. */
export async function startNatsUnderTest(release?: NatsOptions['release']): Promise<StoreUnderTest<NatsConfig>> {
  const store = await startNatsDataStore({ auth: 'accounts', tls: 'server', edit: impatient, release });
  const config = await natsDriver.configure(store.dataStore, noSecrets);
  if (config.access.mode !== 'accounts') throw new Error('this store has accounts');
  const subject = new NatsUnderTest(store, config, config.access);
  // The registry exists from the first reconcile on; a server without data has no size to report.
  await using session = await natsDriver.open(config, new AbortController().signal);
  const tenancy = { schema: 'first', user: 'first', owner: 'first', password: 'first' };
  await session.ensure(tenancy);
  const probe = await natsDriver.isolation();
  await using hand = await probe.connect(config, { tenancy, tls: undefined });
  await hand.write('a', 'x');
  return subject;
}

import type { Tenancy } from '../../../../stores/driver.ts';
import type {
  NamesOfServer,
  PlantedFault,
  RotatingAdministrator,
  StoreUnderTest,
} from '../../../../stores/contract/driver-contract.ts';
import { EtcdClient } from '../../../../stores/etcd/client.ts';
import type { EtcdConfig } from '../../../../stores/etcd/config.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { tenancyRange } from '../../../../stores/etcd/range.ts';
import { startEtcdDataStore } from './data-store.ts';
import type { EtcdDataStore } from './data-store.ts';
import { clientPair, serverCa } from '../../../servers/server-certificates.ts';
import { rawEtcdClient } from '../../../../stores/etcd/isolation/raw-client.ts';
import { halfMade, plantedFaults } from './states.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);

/** A real etcd with authentication, as the contract of drivers needs it. */
class EtcdUnderTest implements StoreUnderTest<EtcdConfig> {
  readonly driver = etcdDriver;
  readonly config: EtcdConfig;
  readonly halfMade: StoreUnderTest<EtcdConfig>['halfMade'];
  readonly plantedFaults: readonly PlantedFault[];
  readonly #store: EtcdDataStore;
  readonly #administrator: EtcdClient;
  #administrators = 0;

  constructor(store: EtcdDataStore, config: EtcdConfig) {
    this.#store = store;
    this.config = config;
    this.#administrator = new EtcdClient(config);
    this.halfMade = halfMade(this.#administrator);
    this.plantedFaults = plantedFaults(this.#administrator);
  }

  async dump(): Promise<readonly string[]> {
    const client = rawEtcdClient(this.config, this.#store.tls.root, {
      'grpc.max_receive_message_length': -1,
    });
    try {
      const lines: string[] = [];
      for (const { key, value } of (await client.getAll().all().exec()).kvs)
        lines.push(`key ${key.toString()}=${value.toString()}`);
      for (const name of (await client.auth.userList()).users) {
        lines.push(`user ${name}: ${(await client.auth.userGet({ name })).roles.join()}`);
      }
      for (const role of (await client.auth.roleList()).roles) {
        const { perm } = await client.auth.roleGet({ role });
        lines.push(
          `role ${role}: ${perm.map((one) => `${one.permType} ${one.key.toString()}..${one.range_end.toString()}`).join()}`,
        );
      }
      return lines.sort();
    } finally {
      client.close();
    }
  }

  async names(): Promise<NamesOfServer> {
    const client = rawEtcdClient(this.config, this.#store.tls.root);
    try {
      return { schemas: (await client.auth.roleList()).roles, users: (await client.auth.userList()).users };
    } finally {
      client.close();
    }
  }

  async makeUnrecorded({ schema, user }: Tenancy): Promise<void> {
    await this.#administrator.addUser(user);
    await this.#administrator.addRole(schema);
    await this.#administrator.grantPermission(schema, { type: 'Readwrite', range: tenancyRange(schema) });
    await this.#administrator.grantRole(user, schema);
  }

  async unusable(): ReturnType<StoreUnderTest<EtcdConfig>['unusable']> {
    const { config } = this;
    const { ca } = this.#store.tls;
    const foreign = await serverCa('another-ca');
    const nobody = { ...config, client: await clientPair(ca, 'nobody') };
    const unknown = { ...config, client: await clientPair(foreign, 'root') };
    return [
      { name: 'nobody listens', config: { ...config, endpoints: ['localhost:1'] }, reason: 'Unreachable' },
      { name: 'no such name', config: { ...config, endpoints: ['etcd.invalid:2379'] }, reason: 'Unreachable' },
      { name: 'not the administrator', config: nobody, reason: 'Unauthorized' },
      { name: 'a client of another CA', config: unknown, reason: 'Unauthorized' },
      { name: 'a server of another CA', config: { ...config, ca: foreign.certificate }, reason: 'Unauthorized' },
    ];
  }

  withDeadEndpoint(): EtcdConfig {
    return { ...this.config, endpoints: ['localhost:1', ...this.config.endpoints] };
  }

  async rotatingAdministrator(): Promise<RotatingAdministrator<EtcdConfig>> {
    // etcd knows no revocation: an administrator's certificate ends with its user.
    const add = async (): Promise<readonly [user: string, config: EtcdConfig]> => {
      this.#administrators += 1;
      const user = `operator-${this.#administrators}`;
      await this.#administrator.addUser(user);
      await this.#administrator.grantRole(user, 'root');
      return [user, { ...this.config, client: await clientPair(this.#store.tls.ca, user) }];
    };
    const [old, config] = await add();
    return {
      config,
      rotate: async () => {
        const [, rotated] = await add();
        await this.#administrator.deleteUser(old);
        return rotated;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#administrator[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }
}

/** Starts etcd for `describeDriver`, in a pinned release. */
export async function startEtcdUnderTest(release?: string): Promise<StoreUnderTest<EtcdConfig>> {
  const store = await startEtcdDataStore({ release });
  return new EtcdUnderTest(store, await etcdDriver.configure(store.dataStore, noSecrets));
}

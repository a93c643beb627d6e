import type { Etcd3 } from 'etcd3';
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
import { EtcdClient } from '../../../../stores/etcd/client.ts';
import type { EtcdConfig } from '../../../../stores/etcd/config.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { tenancyRange } from '../../../../stores/etcd/range.ts';
import { startEtcdDataStore } from './data-store.ts';
import type { EtcdDataStore } from './data-store.ts';
import { clientPair, serverCa } from '../../../servers/server-certificates.ts';
import { adminAttacks, dataAttacks, leaseAttacks, watchAttacks } from './attacks.ts';
import { pairOf, rawEtcdClient } from './raw-client.ts';
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
  readonly #opened: Etcd3[] = [];
  #administrators = 0;

  constructor(store: EtcdDataStore, config: EtcdConfig) {
    this.#store = store;
    this.config = config;
    this.#administrator = new EtcdClient(config);
    this.halfMade = halfMade(this.#administrator);
    this.plantedFaults = plantedFaults(this.#administrator);
  }

  connect(tenant: Tenant): Promise<TenantHand> {
    const client = rawEtcdClient(this.config, pairOf(tenant));
    const path = (key: string): string => `/${tenant.tenancy.schema}/${key}`;
    return Promise.resolve({
      read: async (key) => (await client.get(path(key)).string()) ?? undefined,
      write: async (key, value) => {
        await client.put(path(key)).value(value);
      },
      [Symbol.asyncDispose]: () => {
        client.close();
        return Promise.resolve();
      },
    });
  }

  async attacks(attacker: Tenant, victim: Tenant): Promise<readonly Attempt[]> {
    const client = this.#closedLater(rawEtcdClient(this.config, pairOf(attacker)));
    const stranger = this.#closedLater(rawEtcdClient(this.config, await clientPair(this.#store.tls.ca, 'nobody')));
    const [own, other] = [attacker.tenancy.schema, victim.tenancy.schema];
    return [
      ...dataAttacks(client, own, other),
      ...adminAttacks(client, attacker.tenancy, victim.tenancy),
      ...watchAttacks(() => rawEtcdClient(this.config, pairOf(attacker)), own, other),
      ...leaseAttacks(client, own, await this.#victimLease(victim)),
      { name: 'a certificate of a user that does not exist', run: () => stranger.get(`/${own}/a`).string() },
    ];
  }

  isRefusal(error: unknown): boolean {
    return error instanceof Error && /permission denied|revision of auth/.test(error.message);
  }

  async dump(): Promise<readonly string[]> {
    const client = rawEtcdClient(this.config, this.#store.tls.root);
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
    for (const client of this.#opened.splice(0)) client.close();
    await this.#administrator[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }

  #closedLater(client: Etcd3): Etcd3 {
    this.#opened.push(client);
    return client;
  }

  /** A lease with a key of the victim on it. */
  async #victimLease(victim: Tenant): Promise<string> {
    const client = rawEtcdClient(this.config, pairOf(victim));
    try {
      const { ID } = await client.leaseClient.leaseGrant({ TTL: 3600 });
      await client.put(`/${victim.tenancy.schema}/leased`).lease(ID).value('x').exec();
      return ID;
    } finally {
      client.close();
    }
  }
}

/** Starts etcd for `describeDriver`, in a pinned release. */
export async function startEtcdUnderTest(release?: string): Promise<StoreUnderTest<EtcdConfig>> {
  const store = await startEtcdDataStore({ release });
  return new EtcdUnderTest(store, await etcdDriver.configure(store.dataStore, noSecrets));
}

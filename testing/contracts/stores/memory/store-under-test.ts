import type { Tenancy } from '../../../../stores/driver.ts';
import type { Attempt, StoreUnderTest, Tenant } from '../../../../stores/contract/driver-contract.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import type { Credentials } from '../../../fake/memory-access.ts';
import { MemoryStore } from '../../../fake/memory-driver.ts';

/** A store in memory as the contract of the drivers needs it. */
export function memoryStoreUnderTest(options: { readonly kine: boolean }): StoreUnderTest<string> {
  const store = new MemoryStore(options);
  const attempt = (name: string, attacker: Tenant, work: () => void, victim: Tenancy): Attempt => ({
    name,
    run: () =>
      Promise.resolve().then(() => {
        store.access.check(credentialsOf(attacker), victim.schema);
        work();
      }),
  });
  return {
    driver: store.driver,
    config: 'memory',
    connect: (tenant) => {
      const { schema } = tenant.tenancy;
      const opened = (): void => {
        store.access.check(credentialsOf(tenant), schema);
      };
      return Promise.resolve().then(() => {
        opened();
        return {
          read: (key) =>
            Promise.resolve().then(() => {
              opened();
              const entry = store.dataOf(schema).content().get(key);
              return entry === undefined ? undefined : Buffer.from(entry.value).toString();
            }),
          write: (key, value) =>
            Promise.resolve().then(() => {
              opened();
              store.dataOf(schema).tenantWrites({ is: 'put', entry: { key, value: Buffer.from(value) } });
            }),
          [Symbol.asyncDispose]: () => Promise.resolve(),
        };
      });
    },
    attacks: (attacker, { tenancy: victim }) => {
      const data = store.dataOf(victim.schema);
      const put = { is: 'put', entry: { key: 'a', value: Buffer.from('stolen') } } as const;
      return Promise.resolve([
        attempt('read a key of another tenant', attacker, () => data.content(), victim),
        attempt(
          'write a key of another tenant',
          attacker,
          () => {
            data.tenantWrites(put);
          },
          victim,
        ),
      ]);
    },
    plantedFaults: [
      {
        name: 'a grant to the wrong user',
        plant: (attacker, victim) => {
          store.access.grantForeign(attacker.tenancy.user, victim.tenancy.schema);
          return Promise.resolve();
        },
      },
    ],
    isRefusal: (error) => error instanceof StoreError && error.reason === 'Unauthorized',
    dump: () => Promise.resolve(dumpOf(store)),
    names: () => Promise.resolve({ schemas: [...store.tenancies.keys()], users: store.access.users }),
    halfMade: [
      {
        name: 'an owner without a user',
        make: (tenancy) => {
          store.tenancies.set(tenancy.schema, tenancy);
          return Promise.resolve();
        },
      },
    ],
    makeUnrecorded: (tenancy) => {
      store.access.grant(tenancy);
      store.dataOf(tenancy.schema).tenantWrites({ is: 'put', entry: { key: 'a', value: Buffer.from('old') } });
      return Promise.resolve();
    },
    unusable: () =>
      Promise.resolve([
        { name: 'nobody listens', config: 'dead', reason: 'Unreachable' },
        { name: 'an unknown administrator', config: 'memory#unknown', reason: 'Unauthorized' },
      ]),
    withDeadEndpoint: () => 'dead,memory',
    rotatingAdministrator: () => {
      store.administrators.add('first');
      return Promise.resolve({
        config: 'memory#first',
        rotate: () => {
          store.administrators.delete('first');
          store.administrators.add('second');
          return Promise.resolve('memory#second');
        },
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function credentialsOf({ tenancy, tls }: Tenant): Credentials {
  return { user: tenancy.user, password: tenancy.password, certificate: tls?.certificate };
}

function dumpOf(store: MemoryStore): readonly string[] {
  const recorded = [...store.tenancies.values()].map(
    ({ schema, user, owner }) => `schema ${schema} with user ${user} of ${owner}`,
  );
  const data = [...store.data].flatMap(([schema, tenancy]) =>
    tenancy.texts().map(([key, value]) => `${schema}/${key} is ${value}`),
  );
  return [...recorded, ...store.access.lines, ...data].toSorted();
}

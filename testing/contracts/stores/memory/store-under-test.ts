import type { StoreUnderTest } from '../../../../stores/contract/driver-contract.ts';
import { MemoryStore } from '../../../fake/memory-driver.ts';

/** A store in memory as the contract of the drivers needs it. */
export function memoryStoreUnderTest(options: { readonly kine: boolean }): StoreUnderTest<string> {
  const store = new MemoryStore(options);
  return {
    driver: store.driver,
    config: 'memory',
    plantedFaults: [
      {
        name: 'a grant to the wrong user',
        plant: (attacker, victim) => {
          store.access.grantForeign(attacker.tenancy.user, victim.tenancy.schema);
          return Promise.resolve();
        },
      },
    ],
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

function dumpOf(store: MemoryStore): readonly string[] {
  const recorded = [...store.tenancies.values()].map(
    ({ schema, user, owner }) => `schema ${schema} with user ${user} of ${owner}`,
  );
  const data = [...store.data].flatMap(([schema, tenancy]) =>
    tenancy.texts().map(([key, value]) => `${schema}/${key} is ${value}`),
  );
  return [...recorded, ...store.access.lines, ...data].toSorted();
}

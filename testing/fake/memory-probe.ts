import type { IsolationProbe, Tenancy, Tenant } from '../../stores/driver.ts';
import { reaching } from '../../stores/isolation/attempt.ts';
import { StoreError } from '../../stores/store-error.ts';
import type { Credentials } from './memory-access.ts';
import type { MemoryStore } from './memory-driver.ts';

/** Plays tenants of a store in memory. */
export function memoryProbe(storeOf: (config: string) => MemoryStore): IsolationProbe<string> {
  const isRefusal = (error: unknown): boolean => error instanceof StoreError && error.reason === 'Unauthorized';
  return {
    connect: async (config, tenant) => {
      const store = storeOf(config);
      const { schema } = tenant.tenancy;
      const opened = (): void => {
        store.access.check(credentialsOf(tenant), schema);
      };
      await Promise.resolve().then(opened);
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
    },
    attack: (config, attacker, { tenancy: victim }) => Promise.resolve(attackOf(storeOf(config), attacker, victim)),
    isRefusal,
    isAnswer: isRefusal,
  };
}

function attackOf(
  store: MemoryStore,
  attacker: Tenant,
  victim: Tenancy,
): Awaited<ReturnType<IsolationProbe['attack']>> {
  const data = store.dataOf(victim.schema);
  const attempt = (name: string, work: () => unknown) => ({
    name,
    run: () =>
      Promise.resolve().then(() => {
        store.access.check(credentialsOf(attacker), victim.schema);
        work();
      }),
  });
  const put = { is: 'put', entry: { key: 'a', value: Buffer.from('stolen') } } as const;
  return {
    lanes: [
      reaching('tenants', [
        attempt('read a key of another tenant', () => data.content()),
        attempt('write a key of another tenant', () => {
          data.tenantWrites(put);
        }),
      ]),
    ],
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function credentialsOf({ tenancy, tls }: Tenant): Credentials {
  return { user: tenancy.user, password: tenancy.password, certificate: tls?.certificate };
}

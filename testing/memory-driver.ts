import type { Driver, Session, Tenancy } from '../stores/driver.ts';
import { StoreError } from '../stores/store-error.ts';
import { MemoryTenancy } from './memory-tenancy.ts';

/** A certificate that says what it opens. */
const sharedClientTls: NonNullable<Driver<string>['sharedClientTls']> = (configs, { user }, current) => {
  const certificate = `certificate of ${user} for ${configs.join()}\n`;
  if (current?.certificate === certificate) return Promise.resolve(current);
  return Promise.resolve({
    ca: configs.map((config) => `ca of ${config}\n`).join(''),
    certificate,
    key: 'key\n',
  });
};

/** A store in memory: what it holds, what was asked of it, and how it fails. */
export class MemoryStore {
  /** Tenancies by schema. */
  readonly tenancies = new Map<string, Tenancy>();
  readonly #data = new Map<string, MemoryTenancy>();
  /** Schemas whose tenants have no access. */
  readonly revoked = new Set<string>();
  readonly calls: string[] = [];
  /** What the server says it is; every other version than this one does not keep tenants apart. */
  version = '3.7.1';
  /** Thrown by every call while set. */
  failure: Error | undefined;
  /** Called before each call takes effect; may throw, as a process dies. */
  before: (call: string) => void = () => undefined;
  /** What a ping fails with. */
  silence: Error | undefined;

  /** Called after each call took effect; may throw, as a process dies before it hears of it. */
  after: (call: string) => void = () => undefined;

  /** Whether it is one that tenants reach through kine, with a password. */
  readonly #kine: boolean;
  readonly #beside = new Map<string, MemoryStore>();

  constructor(options: { readonly kine?: boolean } = {}) {
    this.#kine = options.kine === true;
    this.driver = this.#driver();
  }

  readonly driver: Driver<string>;

  /** What is kept under a schema, as its tenant sees it. */
  dataOf(schema: string): MemoryTenancy {
    const data = this.#data.get(schema) ?? new MemoryTenancy();
    this.#data.set(schema, data);
    return data;
  }

  /** Schemas whose tenants cannot write. */
  get fenced(): readonly string[] {
    return [...this.#data].flatMap(([schema, { fenced }]) => (fenced ? [schema] : []));
  }

  /** Another store, behind the same driver, of DataStores with this one endpoint. */
  beside(endpoint: string): MemoryStore {
    const store = this.#beside.get(endpoint) ?? new MemoryStore({ kine: this.#kine });
    this.#beside.set(endpoint, store);
    return store;
  }

  #driver(): Driver<string> {
    const common: Driver<string> = {
      name: 'etcd',
      passwords: false,
      configure: (store) => Promise.resolve(store.spec.endpoints.join(',')),
      checksum: (config) => config,
      bind: (config, { schema }) => ({ kind: 'etcd', endpoints: [`https://${config}`], prefix: `/${schema}` }),
      clientTls: (_config, { user }, current) =>
        Promise.resolve(current ?? { ca: 'ca\n', certificate: `certificate of ${user}\n`, key: 'key\n' }),
      open: (config) => Promise.resolve((this.#beside.get(config) ?? this).#session()),
    };
    if (!this.#kine) return { ...common, sharedClientTls };
    return {
      ...common,
      name: 'PostgreSQL',
      passwords: true,
      bind: (connection) => ({ kind: 'kine', endpoint: 'postgres://$(DB_CONNECTION_STRING)/$(DB_SCHEMA)', connection }),
      clientTls: () => Promise.resolve(undefined),
    };
  }

  #session(): Session {
    const call = (name: string): void => {
      this.before(name);
      this.calls.push(name);
      if (this.failure !== undefined) throw this.failure;
    };
    const run = (name: string, work: () => void): Promise<void> =>
      new Promise((resolve) => {
        call(name);
        work();
        this.after(name);
        resolve();
      });
    return {
      ping: () =>
        this.silence === undefined
          ? Promise.resolve({ version: this.version, supported: this.version === '3.7.1', floor: '3.7.1' })
          : Promise.reject(this.silence),
      ensure: (tenancy) =>
        run('ensure', () => {
          const known = this.tenancies.get(tenancy.schema);
          if (known !== undefined && known.owner !== tenancy.owner) {
            throw new StoreError('OwnedByAnother', `schema ${tenancy.schema} belongs to another owner`);
          }
          this.tenancies.set(tenancy.schema, tenancy);
          this.revoked.delete(tenancy.schema);
        }),
      remove: (tenancy) =>
        run('remove', () => {
          if (this.tenancies.get(tenancy.schema)?.owner !== tenancy.owner) return;
          this.tenancies.delete(tenancy.schema);
          this.#data.delete(tenancy.schema);
        }),
      revoke: (tenancy) => run('revoke', () => void this.revoked.add(tenancy.schema)),
      data: async (tenancy) => {
        await run('data', () => undefined);
        return this.dataOf(tenancy.schema).open();
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
}

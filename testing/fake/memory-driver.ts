import type { Driver, Session, Tenancy, TenancyContent } from '../../stores/driver.ts';
import { refuseUnsafeNames, unsafeName } from '../../stores/etcd/names.ts';
import { foreignError, unrecordedError } from '../../stores/ownership-error.ts';
import { StoreError } from '../../stores/store-error.ts';
import { certificateOf, MemoryAccess } from './memory-access.ts';
import { memoryProbe } from './memory-probe.ts';
import { MemoryTenancy } from './memory-tenancy.ts';
import type { MemoryTenancyOptions } from './memory-tenancy.ts';

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

/** No server listens at endpoints with this prefix. */
const deadEndpoint = 'dead';

/** A datastore in memory that passes the contract of the real ones: its content, the calls, and its failures. */
export class MemoryStore {
  /** Tenancies by schema. */
  readonly tenancies = new Map<string, Tenancy>();
  readonly #data = new Map<string, MemoryTenancy>();
  readonly access = new MemoryAccess();
  /** What follows `#` in the configuration of an administrator who is let in. */
  readonly administrators = new Set(['']);
  /** Schemas whose tenants have no access. */
  readonly revoked = new Set<string>();
  readonly calls: string[] = [];
  /** What the server says it is; every other version than this one does not keep tenants apart. */
  version = '3.7.1';
  /** Thrown by every call while set. */
  failure: Error | undefined;
  /** False for one whose tenants share the administrator's login, so that none can be locked out. */
  locksOut = true;
  /** Called before each call takes effect; may throw, as a process dies. */
  before: (call: string) => void = () => undefined;
  /** What a ping fails with. */
  silence: Error | undefined;

  /** Called after each call took effect; may throw, as if the process died before it got the answer. */
  after: (call: string) => void = () => undefined;

  /** Whether it is one that tenants reach through kine, with a password. */
  readonly #kine: boolean;
  readonly #beside = new Map<string, MemoryStore>();

  readonly #tenancyOptions: MemoryTenancyOptions;

  constructor(options: { readonly kine?: boolean; readonly tenancy?: MemoryTenancyOptions } = {}) {
    this.#kine = options.kine === true;
    this.#tenancyOptions = options.tenancy ?? {};
    this.driver = this.#driver();
  }

  readonly driver: Driver<string>;

  /** Holds what another store holds, in place of what it held; calls, hooks and failures are its own. */
  copyFrom(other: MemoryStore): void {
    for (const own of [this.tenancies, this.#data, this.administrators, this.revoked, this.#beside]) own.clear();
    for (const [schema, tenancy] of other.tenancies) this.tenancies.set(schema, tenancy);
    for (const [schema, data] of other.#data) this.dataOf(schema).copyFrom(data);
    for (const each of other.administrators) this.administrators.add(each);
    for (const each of other.revoked) this.revoked.add(each);
    for (const [endpoint, store] of other.#beside) this.beside(endpoint).copyFrom(store);
    this.access.copyFrom(other.access);
    this.version = other.version;
  }

  /** What is kept under a schema, as its tenant sees it. */
  dataOf(schema: string): MemoryTenancy {
    const data = this.#data.get(schema) ?? new MemoryTenancy(this.#tenancyOptions);
    this.#data.set(schema, data);
    return data;
  }

  /** What is kept under each schema. */
  get data(): ReadonlyMap<string, MemoryTenancy> {
    return this.#data;
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
      capabilities: { passwords: false, kine: false, opensUncopied: true, servesOneTenant: () => false },
      configure: (store) => Promise.resolve(store.spec.endpoints.join(',')),
      checksum: (config) => config,
      bind: (config, { schema }) => ({ kind: 'etcd', endpoints: [`https://${config}`], prefix: `/${schema}` }),
      clientTls: (_config, { user }, current) =>
        Promise.resolve(current ?? { ca: 'ca\n', certificate: certificateOf(user), key: 'key\n' }),
      open: (config) => Promise.resolve((this.#beside.get(config) ?? this).#session(config)),
      isolation: () => Promise.resolve(memoryProbe((config) => this.#beside.get(config) ?? this)),
    };
    if (!this.#kine) return { ...common, sharedClientTls };
    return {
      ...common,
      name: 'PostgreSQL',
      capabilities: { ...common.capabilities, passwords: true, kine: true },
      bind: (connection) => ({ kind: 'kine', endpoint: 'postgres://$(DB_CONNECTION_STRING)/$(DB_SCHEMA)', connection }),
      clientTls: () => Promise.resolve(undefined),
    };
  }

  /** The owner that is recorded for one of the names, when it is another one. */
  #foreign({ schema, user, owner }: Tenancy): Tenancy | undefined {
    return [...this.tenancies.values()].find(
      (known) => known.owner !== owner && (known.schema === schema || known.user === user),
    );
  }

  /** The state of a tenancy as text. */
  #found({ schema, user }: Tenancy): readonly string[] {
    const data = (this.#data.get(schema)?.content().size ?? 0) > 0 ? [`data of ${schema}`] : [];
    return [...data, ...(this.access.has(user) ? [`user ${user}`] : [])];
  }

  #ensure(tenancy: Tenancy): void {
    refuseUnsafeNames(tenancy);
    this.#claim(tenancy);
    this.access.grant(tenancy);
    this.revoked.delete(tenancy.schema);
  }

  /** Records the owner; throws when that cannot be this one. */
  #claim(tenancy: Tenancy): void {
    const foreign = this.#foreign(tenancy);
    if (foreign !== undefined) throw foreignError(tenancy, { is: 'foreign', owner: foreign.owner });
    const found = this.tenancies.has(tenancy.schema) || tenancy.adopt === true ? [] : this.#found(tenancy);
    if (found.length > 0) throw unrecordedError(tenancy, 'memory', found);
    this.tenancies.set(tenancy.schema, tenancy);
  }

  #remove(tenancy: Tenancy): void {
    if (unsafeName(tenancy) !== undefined || this.#foreign(tenancy) !== undefined) return;
    this.#claim(tenancy);
    this.access.remove(tenancy.user);
    this.#data.delete(tenancy.schema);
    this.revoked.delete(tenancy.schema);
    this.tenancies.delete(tenancy.schema);
  }

  #revoke({ schema, user, owner }: Tenancy): void {
    if (this.tenancies.get(schema)?.owner !== owner) return;
    this.access.remove(user);
    this.revoked.add(schema);
  }

  /** Throws when no endpoint answers or the administrator is not let in; says which endpoints do not answer. */
  #reach(config: string): readonly string[] {
    const [endpoints = '', administrator = ''] = config.split('#');
    const all = endpoints.split(',');
    const dead = all.filter((endpoint) => endpoint.startsWith(deadEndpoint));
    const notes = dead.map((endpoint) => `${endpoint}: ECONNREFUSED`);
    if (dead.length === all.length) throw new StoreError('Unreachable', notes.join(', '));
    if (this.administrators.has(administrator)) return notes;
    throw new StoreError('Unauthorized', 'the administrator is not let in');
  }

  #session(config: string): Session {
    const call = (name: string): void => {
      this.#reach(config);
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
    const look = async (name: string, tenancy: Tenancy): Promise<MemoryTenancy | undefined> => {
      let found: MemoryTenancy | undefined;
      await run(name, () => {
        const foreign = this.#foreign(tenancy);
        if (foreign !== undefined) throw foreignError(tenancy, { is: 'foreign', owner: foreign.owner });
        if (this.tenancies.has(tenancy.schema)) found = this.dataOf(tenancy.schema);
      });
      return found;
    };
    return {
      ping: async () => {
        if (this.silence !== undefined) throw this.silence;
        const notes = await Promise.resolve(this.#reach(config));
        const state = { version: this.version, supported: this.version === '3.7.1', floor: '3.7.1', sizeBytes: 1 };
        return notes.length > 0 ? { ...state, notes } : state;
      },
      ensure: (tenancy) =>
        run('ensure', () => {
          this.#ensure(tenancy);
        }),
      remove: (tenancy) =>
        run('remove', () => {
          this.#remove(tenancy);
        }),
      ...(this.locksOut && {
        revoke: (tenancy: Tenancy) =>
          run('revoke', () => {
            this.#revoke(tenancy);
          }),
      }),
      measure: async (tenancy) => {
        const found = await look('measure', tenancy);
        if (found === undefined) return undefined;
        const content = contentOf(found);
        return { bytes: content.bytes, content, writes: found.log.length };
      },
      countWrites: async (tenancy) => (await look('countWrites', tenancy))?.log.length,
      data: async (tenancy) => {
        await run('data', () => {
          const foreign = this.#foreign(tenancy);
          if (foreign !== undefined) throw foreignError(tenancy, { is: 'foreign', owner: foreign.owner });
          if (this.tenancies.has(tenancy.schema)) return;
          throw new StoreError('Failed', `there is no tenancy ${tenancy.schema}: create it before copying its data`);
        });
        return this.dataOf(tenancy.schema).open();
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
}

/** Its keys, and the bytes of keys and values. */
function contentOf(data: MemoryTenancy): TenancyContent {
  const entries = [...data.content().values()];
  const bytes = entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0);
  return { keys: entries.length, bytes };
}
